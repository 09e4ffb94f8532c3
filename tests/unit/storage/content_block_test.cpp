#include "storage/format/content_block.hpp"
#include "storage/format/limits.hpp"
#include "tests/unit/storage/codec_checks.hpp"
#include "tests/unit/storage/content_stubs.hpp"

#include <gtest/gtest.h>

namespace weir::storage {

namespace {

std::string three() {
  content_block_writer out;
  out.add(as_bytes("first"));
  out.add({});
  out.add(as_bytes("the third body"));
  return out.take();
}

std::string text_of(const content_block_reader& x, size_t i) {
  const auto item = x.at(i);
  return item ? std::string{as_text(item->body)} : item.error().context;
}

} // namespace

TEST(ContentBlockTest, BodiesComeBack) {
  const auto value = three();
  const auto block = content_block_reader::open(value);
  ASSERT_TRUE(block) << block.error().context;
  ASSERT_EQ(block->count(), 3u);
  EXPECT_EQ(text_of(*block, 0), "first");
  EXPECT_EQ(text_of(*block, 1), "");
  EXPECT_EQ(text_of(*block, 2), "the third body");
  EXPECT_EQ(block->at(2)->size, 14u);
  EXPECT_FALSE(block->at(2)->erased);
  EXPECT_EQ(block->at(3).error().code, ec::not_found);
}

TEST(ContentBlockTest, AWriterIsEmptyAfterTake) {
  content_block_writer out;
  out.add(as_bytes("x"));
  EXPECT_EQ(out.body_bytes(), 1u);
  const auto first = out.take();
  EXPECT_EQ(out.count(), 0u);
  out.add(as_bytes("x"));
  EXPECT_EQ(out.take(), first);
}

TEST(ContentBlockTest, DamageOfOneBodyLeavesTheOthers) {
  auto value = three();
  value.back() = static_cast<char>(value.back() ^ 1);
  const auto block = content_block_reader::open(value);
  ASSERT_TRUE(block);
  EXPECT_EQ(text_of(*block, 0), "first");
  EXPECT_EQ(block->at(2).error().code, ec::storage_failure);
}

TEST(ContentBlockTest, NoChangedBitGivesOtherBytes) {
  const auto value = three();
  for (size_t bit = 0; bit < value.size() * 8; ++bit) {
    auto changed = value;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const auto block = content_block_reader::open(changed);
    if (!block)
      continue;
    const auto sound = content_block_reader::open(value).value();
    for (size_t i = 0; i < std::min(block->count(), sound.count()); ++i)
      if (const auto item = block->at(i); item && !item->erased) {
        EXPECT_EQ(text_of(*block, i), text_of(sound, i)) << "bit " << bit;
      }
  }
  tests::expect_whole_only(value, content_block_reader::open);
  tests::expect_survives_noise(14, content_block_reader::open);
}

TEST(ContentBlockTest, AStubKeepsTheSizeAndTheOthersKeepTheirPlace) {
  const auto value = three();
  const auto stubbed = tests::with_stubs(value, {0});
  EXPECT_EQ(stubbed.find("first"), std::string::npos);
  const auto after = content_block_reader::open(stubbed);
  ASSERT_TRUE(after);
  EXPECT_TRUE(after->at(0)->erased);
  EXPECT_EQ(after->at(0)->size, 5u);
  EXPECT_TRUE(after->at(0)->body.empty());
  EXPECT_EQ(text_of(*after, 2), "the third body");
}

TEST(ContentBlockTest, HoldsAsManyBodiesAsATransactionMayHave) {
  content_block_writer out;
  for (size_t i = 0; i < limits::transaction_ops_max; ++i)
    out.add(as_bytes("x"));
  auto value = out.take();
  EXPECT_EQ(content_block_reader::open(value)->count(),
            limits::transaction_ops_max);
  // One more of each: 257 as a number, an item, a body.
  const std::string item = value.substr(3, 5);
  value = value.substr(0, 1) + "\x81\x02" + item + value.substr(3) + "x";
  EXPECT_FALSE(content_block_reader::open(value));
}

} // namespace weir::storage
