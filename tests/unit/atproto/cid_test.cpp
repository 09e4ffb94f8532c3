#include "atproto/base_encodings.hpp"
#include "atproto/cid.hpp"
#include "atproto/limits.hpp"
#include "atproto/sha256.hpp"
#include "tests/support/foreign_forms.hpp"

#include <gtest/gtest.h>

#include <unordered_set>

namespace weir::atproto {

namespace {

bytes hex(std::string_view x) {
  return tests::decode_hex(x).value();
}

/// A well-formed CIDv1 of `size` bytes, with an identity hash.
bytes cid_of_size(size_t size) {
  bytes out{1, cid::codec_raw, 0, static_cast<uint8_t>(size - 4)};
  out.resize(size, 0xab);
  return out;
}

constexpr std::string_view digest_hex
  = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

} // namespace

// protocol-coverage.md 2.4.7: the empty tree and its CID.
TEST(CidTest, NamesTheEmptyTree) {
  const auto id = cid::of_dag_cbor(hex("a2616580616cf6"));
  EXPECT_EQ(id.to_text(),
            "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm");
  EXPECT_TRUE(id.is_dag_cbor());
  EXPECT_FALSE(id.is_raw());
}

// protocol-coverage.md 7., 7.0
// protocol-coverage.md 7.0
TEST(CidTest, BlessedFormsAre36BytesAnd59Characters) {
  const auto block = as_bytes("block");
  for (const auto& id : {cid::of_dag_cbor(block), cid::of_raw(block)}) {
    EXPECT_EQ(id.view().size(), cid::blessed_size);
    EXPECT_EQ(id.to_text().size(), 59u);
    EXPECT_EQ(cid::from_text(id.to_text()).value(), id);
    EXPECT_EQ(cid::from_bytes(id.view()).value(), id);
    EXPECT_EQ(bytes(id.hash_data(), id.hash_data() + 32),
              bytes(id.view().begin() + 4, id.view().end()));
  }
  EXPECT_TRUE(cid::of_dag_cbor(block).to_text().starts_with("bafyrei"));
  EXPECT_TRUE(cid::of_raw(block).to_text().starts_with("bafkrei"));
  EXPECT_TRUE(cid::of_raw(block).is_raw());
}

TEST(CidTest, TheUndefinedCidIsEmptyAndEqualOnlyToItself) {
  EXPECT_FALSE(cid{}.defined());
  EXPECT_TRUE(cid{}.view().empty());
  EXPECT_EQ(cid{}.to_text(), "");
  EXPECT_EQ(cid{}, cid{});
  EXPECT_NE(cid{}, cid::of_raw({}));
  EXPECT_FALSE(cid::from_bytes({}));
  EXPECT_FALSE(cid::from_text(""));
  EXPECT_FALSE(cid::from_text("b"));
}

// protocol-coverage.md 7.0
TEST(CidTest, OtherHashesAndCodecsAreKeptButNotBlessed) {
  for (const auto* text : {
         "01701220",  // dag-pb
         "01711e20",  // BLAKE3
         "0171b22020" // BLAKE2b-256, hash code of two bytes
       }) {
    const auto binary = hex(std::string{text} + std::string{digest_hex});
    const auto id = cid::from_bytes(binary);
    ASSERT_TRUE(id) << text;
    EXPECT_FALSE(id->is_dag_cbor());
    EXPECT_FALSE(id->is_raw());
    EXPECT_EQ(bytes(id->view().begin(), id->view().end()), binary);
    EXPECT_EQ(cid::from_text(id->to_text()).value(), *id);
  }
}

TEST(CidTest, Version0IsReadAndWrittenAsBase58) {
  const auto id = cid::from_bytes(hex("1220" + std::string{digest_hex}));
  ASSERT_TRUE(id);
  EXPECT_EQ(id->view().size(), 34u);
  EXPECT_TRUE(id->to_text().starts_with("Qm"));
  EXPECT_FALSE(id->is_dag_cbor());
  EXPECT_FALSE(cid::from_text(id->to_text())) << "only base32 is read";
}

// protocol-coverage.md 7.0
TEST(CidTest, RefusesTextInOtherBasesAndForms) {
  const auto good = cid::of_raw(as_bytes("x")).to_text();
  ASSERT_TRUE(cid::from_text(good));
  std::string upper = good;
  upper[0] = 'B';
  EXPECT_FALSE(cid::from_text(upper));
  EXPECT_FALSE(cid::from_text(good.substr(1)));
  EXPECT_FALSE(cid::from_text("z" + good.substr(1)));
  EXPECT_FALSE(cid::from_text(good + "a"));
  EXPECT_FALSE(cid::from_text(good + "="));
  EXPECT_FALSE(cid::from_text(" " + good));
  std::string v0 = "b";
  append_base32(hex("1220" + std::string{digest_hex}), v0);
  EXPECT_FALSE(cid::from_text(v0)) << "a CIDv0 has no multibase text";
}

TEST(CidTest, RefusesBrokenBinaryForms) {
  const auto tail = std::string{digest_hex};
  EXPECT_TRUE(cid::from_bytes(hex("01551220" + tail)));
  for (const auto& text :
       {std::string{"00"}, std::string{"01"}, std::string{"0155"},
        std::string{"015512"}, std::string{"01551220"},
        "01551220" + tail.substr(2), // cut off
        "01551220" + tail + "00",    // a byte after it
        "00551220" + tail, "02551220" + tail,
        "1220" + tail.substr(2), // CIDv0, cut off
        "01d5001220" + tail,     // codec not in its shortest form
        "8100551220" + tail,     // version not in its shortest form
        "01ffffffffffffffffff01" // a varint of ten bytes
          + ("1220" + tail)})
    EXPECT_FALSE(cid::from_bytes(hex(text))) << text;
}

// protocol-coverage.md 2.2.6
TEST(CidTest, AVarintMayHaveNineBytesAndNoMore) {
  const auto tail = "0001aa"; // Identity hash of one byte.
  EXPECT_TRUE(cid::from_bytes(hex(std::string{"01ffffffffffffffff7f"} + tail)));
  EXPECT_FALSE(
    cid::from_bytes(hex(std::string{"01ffffffffffffffffff01"} + tail)));
}

// limits::cid_bytes_max
// protocol-coverage.md 6.9, 10.8
TEST(CidTest, TakesACidOfTheLargestSizeAndNoLarger) {
  const auto largest = cid::from_bytes(cid_of_size(limits::cid_bytes_max));
  ASSERT_TRUE(largest);
  EXPECT_EQ(largest->view().size(), limits::cid_bytes_max);
  EXPECT_EQ(cid::from_text(largest->to_text()).value(), *largest);
  EXPECT_FALSE(cid::from_bytes(cid_of_size(limits::cid_bytes_max + 1)));
  std::string text = "b";
  append_base32(cid_of_size(limits::cid_bytes_max + 1), text);
  EXPECT_FALSE(cid::from_text(text));
}

TEST(CidTest, AnEnormousHashLengthIsNotBelieved) {
  EXPECT_EQ(cid::measure(hex("015512ffffffffffffffff7f00")), 0u);
}

TEST(CidTest, APrefixEndsWhereTheCidEnds) {
  auto input = hex("01551220" + std::string{digest_hex});
  const auto size = input.size();
  input.push_back(0x99);
  size_t used = 0;
  const auto id = cid::from_prefix(input, used);
  ASSERT_TRUE(id);
  EXPECT_EQ(used, size);
  EXPECT_EQ(cid::measure(input), size);
  EXPECT_TRUE(id->is_raw());
}

TEST(CidTest, ComparesBytewiseAlsoBeyondTheInlineSize) {
  const auto shorter = cid::from_bytes(cid_of_size(40)).value();
  auto changed = cid_of_size(40);
  changed.back() = 0xac;
  const auto larger = cid::from_bytes(changed).value();
  EXPECT_EQ(shorter, cid::from_bytes(cid_of_size(40)).value());
  EXPECT_NE(shorter, larger);
  EXPECT_NE(cid{}, shorter);
  EXPECT_NE(cid(cid::codec_raw, digest{}), cid(cid::codec_dag_cbor, digest{}));
  auto copy = larger;
  EXPECT_EQ(copy, larger);
}

TEST(CidTest, HashesDifferWhereCidsDiffer) {
  std::unordered_set<cid> seen;
  for (uint8_t i = 0; i < 100; ++i)
    seen.insert(cid::of_raw(bytes{i}));
  for (size_t size = 5; size < 60; ++size)
    seen.insert(cid::from_bytes(cid_of_size(size)).value());
  EXPECT_EQ(seen.size(), 155u);
  EXPECT_TRUE(seen.contains(cid::of_raw(bytes{7})));
}

} // namespace weir::atproto
