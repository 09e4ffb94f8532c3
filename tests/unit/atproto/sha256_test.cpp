#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace weir::atproto {

namespace {

std::string hex_of(std::string_view x) {
  return encode_hex(sha256(as_bytes(x)));
}

constexpr std::string_view million_a_hex
  = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

} // namespace

// FIPS 180-4 examples.
TEST(Sha256Test, HashesTheExamplesOfTheStandard) {
  EXPECT_EQ(hex_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495"
                        "991b7852b855");
  EXPECT_EQ(hex_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb4"
                           "10ff61f20015ad");
  EXPECT_EQ(hex_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06"
            "c1");
  EXPECT_EQ(hex_of(std::string(1'000'000, 'a')), million_a_hex);
}

TEST(Sha256StreamTest, AnyCutGivesTheSameDigest) {
  const std::string text(300, 'a');
  const auto whole = sha256(as_bytes(text));
  for (size_t cut = 0; cut <= text.size(); cut += 7) {
    sha256_stream stream;
    stream.update(as_bytes(text).first(cut));
    stream.update({});
    stream.update(as_bytes(text).subspan(cut));
    EXPECT_EQ(stream.finish(), whole) << cut;
  }
}

TEST(Sha256StreamTest, StartsAnewAfterEachDigest) {
  sha256_stream stream;
  stream.update(as_bytes("abc"));
  EXPECT_EQ(stream.finish(), sha256(as_bytes("abc")));
  EXPECT_EQ(stream.finish(), sha256({}));
}

TEST(Sha256StreamTest, MovesWithWhatItHasSeen) {
  sha256_stream first;
  first.update(as_bytes("ab"));
  auto second = std::move(first);
  second.update(as_bytes("c"));
  EXPECT_EQ(second.finish(), sha256(as_bytes("abc")));
}

TEST(Sha256Test, ADigestEqualsItselfAndNoOther) {
  const auto x = sha256(as_bytes("abc"));
  EXPECT_TRUE(same_secret(x, sha256(as_bytes("abc"))));
  for (size_t i = 0; i < x.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto y = x;
      y[i] = static_cast<uint8_t>(y[i] ^ (1 << bit));
      EXPECT_FALSE(same_secret(x, y)) << i << '.' << bit;
    }
}

TEST(Sha256Test, ThreadsDoNotDisturbEachOther) {
  std::vector<std::thread> threads;
  std::vector<std::string> out(4);
  for (auto& x : out)
    threads.emplace_back([&x] {
      x = hex_of(std::string(1'000'000, 'a'));
    });
  for (auto& x : threads)
    x.join();
  for (const auto& x : out)
    EXPECT_EQ(x, million_a_hex);
}

} // namespace weir::atproto
