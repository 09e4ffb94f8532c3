#include "atproto/base_encodings.hpp"
#include "atproto/sha256.hpp"
#include "atproto/signature.hpp"
#include "tests/support/foreign_forms.hpp"

#include <gtest/gtest.h>

#include <thread>

// protocol-coverage.md section 7.

namespace weir::atproto {

namespace {

bytes from_hex(std::string_view x) {
  return tests::decode_hex(x).value();
}

/// The orders of the curves.
bytes order_of(curve x) {
  return x == curve::k256 ? from_hex("fffffffffffffffffffffffffffffffe"
                                     "baaedce6af48a03bbfd25e8cd0364141")
                          : from_hex("ffffffff00000000ffffffffffffffff"
                                     "bce6faada7179e84f3b9cac2fc632551");
}

/// x - y, both big-endian.
bytes minus(bytes x, bytes_view y) {
  int borrow = 0;
  for (auto i = x.size(); i-- > 0;) {
    const int digit = x[i] - y[i] - borrow;
    borrow = digit < 0 ? 1 : 0;
    x[i] = static_cast<uint8_t>(digit);
  }
  return x;
}

/// The other signature of the same message that plain ECDSA accepts: n - s.
bytes with_high_s(curve which, const signature& sig) {
  bytes out(sig.begin(), sig.end());
  const auto s = minus(order_of(which), bytes_view{sig}.last(32));
  std::copy(s.begin(), s.end(), out.begin() + 32);
  return out;
}

/// The private key 1, whose public point is the generator.
private_key key_one(curve which) {
  bytes secret(32, 0);
  secret.back() = 1;
  return private_key::from_bytes(which, secret).value();
}

class SignatureTest : public testing::TestWithParam<curve> {
protected:
  std::unique_ptr<random_source> random = seeded_random(1);
  private_key key = private_key::generate(GetParam(), *random);
  public_key point = key.public_part();
};

INSTANTIATE_TEST_SUITE_P(BothCurves, SignatureTest,
                         testing::Values(curve::k256, curve::p256),
                         [](const auto& which) {
                           return which.param == curve::k256 ? "K256" : "P256";
                         });

} // namespace

TEST_P(SignatureTest, WhatIsSignedIsVerified) {
  for (const auto* text : {"", "a", "a longer message"}) {
    const auto sig = key.sign(as_bytes(text));
    EXPECT_TRUE(point.verify(as_bytes(text), sig));
    EXPECT_TRUE(point.verify_digest(sha256(as_bytes(text)), sig));
    EXPECT_FALSE(point.verify(as_bytes("another"), sig));
  }
}

TEST_P(SignatureTest, EveryFlippedBitIsNoticed) {
  const auto sig = key.sign(as_bytes("message"));
  for (size_t bit = 0; bit < sig.size() * 8; ++bit) {
    auto bad = sig;
    bad[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    ASSERT_FALSE(point.verify(as_bytes("message"), bad)) << bit;
  }
}

// protocol-coverage.md 7.4
TEST_P(SignatureTest, HighSIsRefused) {
  for (int i = 0; i < 32; ++i) {
    const auto message = std::to_string(i);
    const auto sig = key.sign(as_bytes(message));
    EXPECT_TRUE(point.verify(as_bytes(message), sig));
    EXPECT_FALSE(point.verify(as_bytes(message), with_high_s(GetParam(), sig)));
  }
}

// protocol-coverage.md 7.3
TEST_P(SignatureTest, OnlySixtyFourBytesAreASignature) {
  const auto sig = key.sign(as_bytes("message"));
  bytes longer(sig.begin(), sig.end());
  longer.push_back(0);
  EXPECT_FALSE(point.verify(as_bytes("message"), longer));
  EXPECT_FALSE(point.verify(as_bytes("message"), bytes_view{sig}.first(63)));
  EXPECT_FALSE(point.verify(as_bytes("message"), {}));
}

// protocol-coverage.md 7.3
TEST_P(SignatureTest, NumbersOutsideTheirRangeAreRefused) {
  const auto good = key.sign(as_bytes("message"));
  const auto order = order_of(GetParam());
  for (const auto& number : {bytes(32, 0), order, bytes(32, 0xff)})
    for (const size_t at : {0, 32}) {
      auto sig = good;
      std::copy(number.begin(), number.end(), sig.begin() + at);
      EXPECT_FALSE(point.verify(as_bytes("message"), sig));
    }
}

// The simulated network must be equal for equal seeds.
TEST_P(SignatureTest, SigningTwiceGivesTheSameBytes) {
  EXPECT_EQ(key.sign(as_bytes("x")), key.sign(as_bytes("x")));
  const auto again = seeded_random(1);
  EXPECT_EQ(private_key::generate(GetParam(), *again).public_part(), point);
}

// protocol-coverage.md 7.6
TEST_P(SignatureTest, KeysOfTheOtherCurveVerifyNothing) {
  const auto other
    = private_key::generate(
        GetParam() == curve::k256 ? curve::p256 : curve::k256, *random)
        .public_part();
  EXPECT_FALSE(other.verify(as_bytes("x"), key.sign(as_bytes("x"))));
  EXPECT_NE(other, point);
}

TEST_P(SignatureTest, OneKeyServesManyThreads) {
  const auto sig = key.sign(as_bytes("message"));
  std::vector<std::thread> threads;
  std::array<int, 4> verified{};
  for (auto& n : verified)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        n += point.verify(as_bytes("message"), sig) ? 1 : 0;
    });
  for (auto& x : threads)
    x.join();
  for (const auto n : verified)
    EXPECT_EQ(n, 200);
}

// -- forms of keys ------------------------------------------------------------

// protocol-coverage.md 7.1
TEST_P(SignatureTest, AKeySurvivesItsText) {
  const auto text = point.to_multikey();
  EXPECT_TRUE(text.starts_with(GetParam() == curve::k256 ? "zQ3s" : "zDn"));
  EXPECT_EQ(public_key::from_multikey(text).value(), point);
  EXPECT_EQ(point.which(), GetParam());
}

// protocol-coverage.md 7.2
TEST_P(SignatureTest, TheGeneratorIsReadInBothForms) {
  const bool k = GetParam() == curve::k256;
  const auto x = from_hex(k ? "79be667ef9dcbbac55a06295ce870b07"
                              "029bfcdb2dce28d959f2815b16f81798"
                            : "6b17d1f2e12c4247f8bce6e563a440f2"
                              "77037d812deb33a0f4a13945d898c296");
  const auto y = from_hex(k ? "483ada7726a3c4655da4fbfc0e1108a8"
                              "fd17b448a68554199c47d08ffb10d4b8"
                            : "4fe342e2fe1a7f9b8ee7eb4a7c0f9e16"
                              "2bce33576b315ececbb6406837bf51f5");
  bytes compressed{static_cast<uint8_t>(2 + y.back() % 2)};
  compressed.insert(compressed.end(), x.begin(), x.end());
  bytes full{4};
  full.insert(full.end(), x.begin(), x.end());
  full.insert(full.end(), y.begin(), y.end());
  const auto expected = key_one(GetParam()).public_part();
  for (const auto& form : {compressed, full}) {
    EXPECT_EQ(public_key::from_point(GetParam(), form).value(), expected);
    EXPECT_EQ(
      public_key::from_legacy(GetParam(), "z" + encode_base58(form)).value(),
      expected);
  }
  // The hybrid form, a wrong first byte, and bytes that are not a point.
  for (const uint8_t first :
       std::initializer_list<uint8_t>{0, 1, 2, 3, 5, 6, 7}) {
    full[0] = first;
    EXPECT_FALSE(public_key::from_point(GetParam(), full)) << int{first};
  }
  full[0] = 4;
  full.back() ^= 1;
  EXPECT_FALSE(public_key::from_point(GetParam(), full)) << "not on the curve";
  for (const uint8_t first : std::initializer_list<uint8_t>{0, 1, 4, 5, 6, 7}) {
    compressed[0] = first;
    EXPECT_FALSE(public_key::from_point(GetParam(), compressed)) << int{first};
  }
  EXPECT_FALSE(public_key::from_point(GetParam(), bytes{0})) << "infinity";
  EXPECT_FALSE(public_key::from_point(GetParam(), {}));
}

// protocol-coverage.md 7.1
TEST_P(SignatureTest, AnXBeyondTheFieldIsNoPoint) {
  bytes point_bytes(33, 0xff);
  point_bytes[0] = 2;
  EXPECT_FALSE(public_key::from_point(GetParam(), point_bytes));
}

// protocol-coverage.md 7.1
TEST_P(SignatureTest, BrokenTextsOfKeysAreRefused) {
  const auto text = point.to_multikey();
  const auto binary = decode_base58(text.substr(1)).value();
  auto longer = binary;
  longer.push_back(0);
  auto foreign = binary;
  foreign[0] = 0xed; // ed25519
  for (const auto& bad :
       {std::string{}, std::string{"z"}, text.substr(1), "m" + text.substr(1),
        text + "0", "z" + encode_base58(longer), "z" + encode_base58(foreign),
        "z" + encode_base58(bytes_view{binary}.first(34)),
        "z" + encode_base58(bytes_view{binary}.subspan(2))})
    EXPECT_FALSE(public_key::from_multikey(bad)) << bad;
  EXPECT_FALSE(public_key::from_legacy(GetParam(), text)) << "has a prefix";
}

TEST_P(SignatureTest, SecretsLieBetweenOneAndTheOrder) {
  const auto order = order_of(GetParam());
  auto largest = order;
  --largest.back();
  EXPECT_TRUE(private_key::from_bytes(GetParam(), largest));
  EXPECT_FALSE(private_key::from_bytes(GetParam(), order));
  EXPECT_FALSE(private_key::from_bytes(GetParam(), bytes(32, 0)));
  EXPECT_FALSE(private_key::from_bytes(GetParam(), bytes(32, 0xff)));
  EXPECT_FALSE(private_key::from_bytes(GetParam(), bytes(31, 1)));
  EXPECT_FALSE(private_key::from_bytes(GetParam(), bytes(33, 1)));
  // Its public point is the generator's mirror image.
  const auto last = private_key::from_bytes(GetParam(), largest).value();
  EXPECT_TRUE(
    last.public_part().verify(as_bytes("x"), last.sign(as_bytes("x"))));
  EXPECT_NE(last.public_part(), key_one(GetParam()).public_part());
}

TEST(PublicKeyTest, TheEmptyKeyVerifiesNothing) {
  const public_key none;
  EXPECT_FALSE(none.defined());
  EXPECT_FALSE(none.verify({}, bytes(64, 1)));
  EXPECT_EQ(none.to_multikey(), "");
  EXPECT_EQ(none, public_key{});
  EXPECT_NE(none, key_one(curve::k256).public_part());
}

// RFC 6979, A.2.5, with s brought to its low form where it is high.
TEST(P256Test, NoncesAreThoseOfTheRfc) {
  const auto key = private_key::from_bytes(
                     curve::p256, from_hex("c9afa9d845ba75166b5c215767b1d693"
                                           "4e50c3db36e89b127b8a622b120f6721"))
                     .value();
  const auto sample = key.sign(as_bytes("sample"));
  EXPECT_EQ(encode_hex(bytes_view{sample}.first(32)),
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716");
  const auto high = from_hex("f7cb1c942d657c41d436c7a1b6e29f65"
                             "f3e900dbb9aff4064dc4ab2f843acda8");
  EXPECT_EQ(encode_hex(bytes_view{sample}.last(32)),
            encode_hex(minus(order_of(curve::p256), high)));
  const auto test = key.sign(as_bytes("test"));
  EXPECT_EQ(encode_hex(test),
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
            "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083");
}

// The largest s that is low: (n - 1) / 2, exactly.
// protocol-coverage.md 7.4
TEST(P256Test, LowSEndsAtHalfTheOrder) {
  const auto key = key_one(curve::p256);
  for (int i = 0; i < 64; ++i) {
    const auto sig = key.sign(as_bytes(std::to_string(i)));
    const bytes s(sig.begin() + 32, sig.end());
    EXPECT_LE(s, from_hex("7fffffff800000007fffffffffffffff"
                          "de737d56d38bcf4279dce5617e3192a8"));
  }
}

} // namespace weir::atproto
