#include "atproto/block_index.hpp"
#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/identifiers.hpp"
#include "atproto/limits.hpp"
#include "atproto/mst.hpp"
#include "atproto/repo_walk.hpp"
#include "tests/support/foreign_forms.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

// The default limits of the codecs, accepted at the limit and refused just
// above it.
namespace weir::atproto {

namespace {

/// Nested arrays of this depth.
bytes nested(size_t depth) {
  bytes out(depth - 1, 0x81);
  out.push_back(0x80);
  return out;
}

} // namespace

TEST(CodecBounds, ALabelHasSoManyBytesAndNotOneMore) {
  const std::string at(limits::label_bytes_max, 'a');
  EXPECT_TRUE(valid_handle(at + ".example.com"));
  EXPECT_FALSE(valid_handle(at + "a.example.com"));
  EXPECT_TRUE(valid_nsid("com.example." + at));
  EXPECT_FALSE(valid_nsid("com.example." + at + "a"));
}

TEST(CodecBounds, WithoutAWordOfTheCallerDepthIsTheGuides) {
  for (const size_t more : {0, 1}) {
    const auto data = nested(limits::cbor_depth_default + more);
    cbor::reader in{data};
    EXPECT_EQ(in.skip().has_value(), more == 0);
  }
}

// protocol-coverage.md 5.1; a key of that depth cannot be found, so numbers are
// tested.
TEST(CodecBounds, ATreeIsSoDeepAndNotOneDeeper) {
  constexpr auto most = static_cast<int>(limits::mst_depth_max);
  EXPECT_TRUE(mst::is_depth_allowed(most));
  EXPECT_FALSE(mst::is_depth_allowed(most + 1));
}

// A sender who chooses digests to make look-ups slow is refused.
TEST(CodecBounds, SoManyBlocksMayShareASlotAndNotOneMore) {
  for (const size_t more : {0, 1}) {
    std::vector<tests::named_block> blocks;
    for (size_t i = 0; i < limits::car_probes_max + more; ++i) {
      bytes id{0x01, 0x71, 0x12, 0x20}; // DAG-CBOR under SHA-256.
      id.resize(cid::blessed_size);
      id.back() = static_cast<uint8_t>(i);
      blocks.emplace_back(cid::from_bytes(id).value(), bytes{0x80});
    }
    const auto car = tests::make_car(blocks.front().first, blocks);
    const auto slice = car_slice::parse(car, blocks.size());
    EXPECT_EQ(slice.has_value(), more == 0);
  }
}

// A reader asks for one kind of item, whatever comes:
// protocol-coverage.md 6.
TEST(CodecBounds, AReaderTakesNoItemForAnother) {
  const bytes undefined{0xf7};
  EXPECT_FALSE(tests::peek(cbor::reader{undefined}));
  const bytes not_utf8{0x61, 0xff};
  EXPECT_FALSE(cbor::reader{not_utf8}.read_text());
  const bytes cut{0x42, 0x00};
  EXPECT_FALSE(cbor::reader{cut}.read_bytes());
  const bytes no_link{0xd8, 0x2a, 0x41, 0x00};
  EXPECT_FALSE(cbor::reader{no_link}.read_link());
}

} // namespace weir::atproto
