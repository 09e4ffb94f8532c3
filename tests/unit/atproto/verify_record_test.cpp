#include "atproto/limits.hpp"
#include "tests/support/repo_builder.hpp"

#include <gtest/gtest.h>

// Proves protocol-coverage.md 2.4 (invalid records) and 6 (record blocks).

namespace weir::tests {

using namespace atproto;

// protocol-coverage.md 2.4.4, 10.4, 11.9
// protocol-coverage.md 6.11
TEST(VerifyRecordTest, KeepsTheCommitWhenARecordIsNone) {
  const auto largest = [](size_t size) {
    const auto around = make_record(std::string(size, 'x')).size() - size;
    return make_record(std::string(size - around, 'x'));
  };
  const auto full = largest(limits::record_bytes_max);
  ASSERT_EQ(full.size(), limits::record_bytes_max);
  const struct {
    bytes block;
    bool fine;
  } cases[] = {
    {make_record("good"), true},
    {full, true},
    {largest(limits::record_bytes_max + 1), false},
    {{0xf6}, false},
    {{0x80}, false},
    {{0xa1, 0x61, 'a', 0xf7}, false},
    {{0xa1, 0x61, 'a', 0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0}, false},
    {{0xa0, 0x00}, false},
    {{0xa2, 0x61, 'b', 0x01, 0x61, 'a', 0x01}, false},
    {{0xa1, 0x60, 0x01}, true},
  };
  for (const auto& x : cases) {
    test_repo one{8};
    one.put("app.test.note/1", x.block);
    const auto done
      = verify_frame(one.commit(), one.key().public_part(), one.now());
    ASSERT_TRUE(done) << done.error().reason;
    EXPECT_EQ(done->ops[0].undecodable, !x.fine);
    EXPECT_EQ(done->ops[0].record.empty(), !x.fine);
    EXPECT_EQ(done->ops[0].id, cid::of_dag_cbor(x.block));
  }
}

// Each case names the result of @atproto/lex-cbor for the same block: where it
// accepts more than the text, such records exist in live repos. Here the text
// counts: the record is invalid, its path and CID stay, and clients see the
// CID.
// protocol-coverage.md 6.7, 6.9, 11.13
// protocol-coverage.md 6.0
TEST(VerifyRecordTest, WhatOtherDecodersTakeKeepsItsPlaceWithoutItsContent) {
  const struct {
    const char* what;
    bytes block;
    bool taken_there;
  } cases[] = {
    {"keys out of order", {0xa2, 0x61, 'b', 0x01, 0x61, 'a', 0x01}, true},
    {"a float of 16 bits", {0xa1, 0x61, 'a', 0xf9, 0x3c, 0x00}, true},
    {"a float of 32 bits", {0xa1, 0x61, 'a', 0xfa, 0x3f, 0x80, 0, 0}, true},
    {"a float of 64 bits",
     {0xa1, 0x61, 'a', 0xfb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0},
     true},
    {"undefined", {0xa1, 0x61, 'a', 0xf7}, true},
    {"text that is not UTF-8", {0xa1, 0x61, 'a', 0x61, 0xff}, true},
    {"a key twice", {0xa2, 0x61, 'a', 0x01, 0x61, 'a', 0x02}, false},
    {"a long integer", {0xa1, 0x61, 'a', 0x18, 0x01}, false},
    {"an indefinite length", {0xa1, 0x61, 'a', 0x9f, 0xff}, false},
    {"a foreign tag", {0xa1, 0x61, 'a', 0xc1, 0x01}, false},
    {"bytes behind it", {0xa0, 0x00}, false},
  };
  size_t laxer = 0;
  for (const auto& x : cases) {
    SCOPED_TRACE(x.what);
    laxer += x.taken_there;
    test_repo one{8};
    one.put("app.test.note/1", x.block);
    const auto done
      = verify_frame(one.commit(), one.key().public_part(), one.now());
    ASSERT_TRUE(done) << done.error().reason;
    const auto& op = done->ops.at(0);
    EXPECT_TRUE(op.undecodable);
    EXPECT_TRUE(op.record.empty());
    EXPECT_EQ(op.collection + '/' + op.rkey, "app.test.note/1");
    EXPECT_EQ(op.id, cid::of_dag_cbor(x.block));
  }
  EXPECT_EQ(laxer, 6u);
}

// protocol-coverage.md 5.1.7
TEST(VerifyRecordTest, KeepsTheCommitWhenARecordLinkHasAnotherForm) {
  const auto record = make_record("raw");
  const auto raw = cid::of_raw(record);
  auto other = bytes{0x01, 0x71, 0x1b, 0x20};
  other.resize(36, 5);
  const auto foreign = cid::from_bytes(other).value();
  test_repo one{8};
  one.put("app.test.note/1", raw);
  one.put("app.test.note/2", foreign);
  auto x = one.draft();
  const auto judge = [&] {
    return verify_frame(x.encode(x.sign(one.key())), one.key().public_part(),
                        one.now());
  };
  const auto absent = judge();
  ASSERT_FALSE(absent) << "a block that could be checked must be there";
  EXPECT_EQ(absent.error().why, verdict::bad_proof);
  x.blocks.emplace_back(raw, record);
  const auto done = judge();
  ASSERT_TRUE(done) << done.error().reason;
  EXPECT_TRUE(done->ops[0].undecodable);
  EXPECT_TRUE(done->ops[1].undecodable);
}

TEST(VerifyRecordTest, BoundsHowOftenARecordIsRepeated) {
  const auto judge = [](size_t paths) {
    test_repo one{8};
    for (size_t i = 0; i < paths; ++i)
      one.put("app.test.note/" + std::to_string(i),
              make_record(std::string(500'000, 'x')));
    const auto done
      = verify_frame(one.commit(), one.key().public_part(), one.now());
    return done ? "fine" : to_string(done.error().why);
  };
  const auto allowed = limits::record_repeat_factor_max
                       * (500'000 + limits::record_bytes_max) / 500'000;
  EXPECT_STREQ(judge(allowed), "fine");
  EXPECT_STREQ(judge(allowed + 2), "bad_proof");
}

} // namespace weir::tests
