#include "storage/format/byte_archive.hpp"
#include "storage/format/crc32c.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/values.hpp"
#include "tests/unit/storage/codec_checks.hpp"
#include "tests/unit/storage/sample_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace weir::storage {

namespace {

log_block block_of(size_t ops) {
  log_block x;
  x.repo = tests::sample_did;
  x.rev = atproto::tid{99};
  x.streams = {{16, main_branch, 0, {}}};
  for (size_t i = 0; i < ops; ++i)
    x.ops.push_back({0, atproto::op_action::create, false, 0,
                     atproto::tid{1000 + i}.str(), tests::sample_cid, i + 1});
  return x;
}

/// The bytes with a correct checksum.
std::string sealed(std::string body) {
  const auto sum = crc32c(body);
  for (int i = 0; i < 4; ++i)
    body.push_back(static_cast<char>(sum >> (8 * i)));
  return body;
}

/// For any byte at any place: bytes that decode are encoded to the same bytes.
void expect_one_form(const log_block& x) {
  auto body = encode_log_block(x).value();
  body.resize(body.size() - 4);
  for (size_t at = 0; at < body.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      auto changed = body;
      changed[at] = static_cast<char>(value);
      const auto back = decode_log_block(sealed(changed));
      if (!back)
        continue;
      EXPECT_TRUE(encode_log_block(*back).value() == sealed(changed))
        << value << " at " << at;
    }
}

} // namespace

TEST(LogBlockTest, ComesBackAsItWent) {
  const auto block = tests::sample_block();
  const auto encoded = encode_log_block(block);
  ASSERT_TRUE(encoded) << encoded.error().context;
  const auto back = decode_log_block(*encoded);
  ASSERT_TRUE(back) << back.error().context;
  EXPECT_EQ(*back, block);
}

// architecture.md I3: every change of a stored block is detected.
TEST(LogBlockTest, EveryChangedBitIsSeen) {
  const auto encoded = encode_log_block(tests::sample_block()).value();
  for (size_t bit = 0; bit < encoded.size() * 8; ++bit) {
    auto changed = encoded;
    changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
    const auto back = decode_log_block(changed);
    ASSERT_FALSE(back) << "bit " << bit;
    EXPECT_EQ(back.error().code, ec::storage_failure);
  }
  tests::expect_whole_only(encoded, decode_log_block);
}

TEST(LogBlockTest, WithAFittingChecksumOnlyWellFormedBytesAreTaken) {
  auto body = encode_log_block(tests::sample_block()).value();
  body.resize(body.size() - 4);
  const auto decode = [](const std::string& x) {
    return decode_log_block(sealed(x));
  };
  tests::expect_whole_only(body, decode);
  tests::expect_canonical(body, decode, [](const log_block& x) {
    auto out = encode_log_block(x).value();
    out.resize(out.size() - 4);
    return out;
  });
  tests::expect_survives_noise(13, decode);
}

TEST(LogBlockTest, HoldsAsManyOperationsAsATransactionMayHave) {
  const auto most = encode_log_block(block_of(limits::transaction_ops_max));
  ASSERT_TRUE(most);
  EXPECT_EQ(decode_log_block(*most)->ops.size(), limits::transaction_ops_max);
  EXPECT_EQ(
    encode_log_block(block_of(limits::transaction_ops_max + 1)).error().code,
    ec::limit_reached);
  EXPECT_EQ(encode_log_block(block_of(0)).error().code, ec::invalid_argument);
}

TEST(LogBlockTest, WhatCannotBeABlockIsNotWritten) {
  const auto refused = [](auto change) {
    auto block = tests::sample_block();
    change(block);
    return encode_log_block(block).error().code == ec::invalid_argument;
  };
  EXPECT_TRUE(refused([](auto& x) {
    x.ops[0].stream = 3;
  }));
  EXPECT_TRUE(refused([](auto& x) {
    x.ops[0].action = {};
  }));
  EXPECT_TRUE(refused([](auto& x) {
    x.streams.push_back({});
  }));
  EXPECT_TRUE(refused([](auto& x) {
    x.from = {};
  }));
  EXPECT_TRUE(refused([](auto& x) {
    x.streams[1].previous = tests::digest_of_byte(1);
  }));
}

TEST(LogBlockTest, ABackfilledOperationCostsFewBytes) {
  const auto size = encode_log_block(block_of(256)).value().size();
  // Flags, stream, TID, CID: every reader needs these.
  EXPECT_LT(size, 256 * 44 + 100);
}

TEST(LogBlockTest, ACommitsTimesMayLieAnywhere) {
  constexpr auto least = std::numeric_limits<int64_t>::min();
  constexpr auto most = std::numeric_limits<int64_t>::max();
  for (const auto time : {least, int64_t{-1}, int64_t{0}, most})
    for (const auto written : {least, int64_t{0}, most}) {
      auto block = block_of(1);
      block.time_us = time;
      block.written_us = written;
      EXPECT_EQ(decode_log_block(encode_log_block(block).value()).value(),
                block);
    }
}

TEST(LogBlockTest, NoOtherByteMakesAnotherFormOfABlock) {
  auto block = tests::sample_block();
  block.ops[0].rkey = "3jzfcijpj2z2A"; // One letter differs from a TID.
  block.ops[0].skip = 1;
  block.ops[0].content = 70;
  block.ops[1].rkey = "3jzfcijpj2z2a";
  block.ops[1].content = 75;
  auto highest = block;
  highest.ops[0].content = UINT64_MAX - 1;
  highest.ops[1].content = UINT64_MAX;
  for (const auto& x : {block, highest})
    expect_one_form(x);
}

TEST(LogBlockTest, OneOperationTooManyIsNotTakenEither) {
  constexpr auto most = limits::transaction_ops_max;
  const auto less = encode_log_block(block_of(most - 1)).value();
  const auto body = [](std::string x) {
    x.resize(x.size() - 4);
    return x;
  };
  auto more = body(encode_log_block(block_of(most)).value());
  const auto count
    = static_cast<size_t>(std::ranges::mismatch(more, less).in1 - more.begin());
  const auto last = more.substr(more.size() - (more.size() + 4 - less.size()));
  more[count] = static_cast<char>(more[count] + 1);
  more += last;
  const auto taken = decode_log_block(sealed(more));
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().context.find("too many operations"),
            std::string::npos)
    << taken.error().context;
}

TEST(ByteArchiveTest, ANumberTooLargeForItsFieldIsRefused) {
  byte_output out;
  out(int64_t{1} << 40, uint64_t{1} << 40);
  byte_input in{out.data};
  int32_t small = 0;
  EXPECT_THROW(in(small), bad_value);
  uint32_t natural = 0;
  EXPECT_THROW(in(natural), bad_value);
}

} // namespace weir::storage
