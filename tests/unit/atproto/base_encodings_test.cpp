#include "atproto/base_encodings.hpp"
#include "atproto/limits.hpp"
#include "base/random.hpp"
#include "tests/support/foreign_forms.hpp"

#include <gtest/gtest.h>

namespace weir::atproto {

namespace {

std::string base32(std::string_view x) {
  std::string out;
  append_base32(as_bytes(x), out);
  return out;
}

std::string base64(std::string_view x) {
  std::string out;
  append_base64(as_bytes(x), out);
  return out;
}

std::optional<std::string> as_string(const std::optional<bytes>& x) {
  if (!x)
    return std::nullopt;
  return std::string{x->begin(), x->end()};
}

using optional_text = std::optional<std::string>;

} // namespace

// RFC 4648, section 10, in lower case and without padding.
TEST(Base32Test, WritesAndReadsTheExamplesOfTheRfc) {
  const std::pair<const char*, const char*> cases[]
    = {{"", ""},
       {"f", "my"},
       {"fo", "mzxq"},
       {"foo", "mzxw6"},
       {"foob", "mzxw6yq"},
       {"fooba", "mzxw6ytb"},
       {"foobar", "mzxw6ytboi"}};
  for (const auto& [plain, text] : cases) {
    EXPECT_EQ(base32(plain), text);
    EXPECT_EQ(as_string(decode_base32(text)), plain);
  }
}

TEST(Base32Test, RefusesWhatNoEncoderWrites) {
  for (const auto* text : {"MY", "my======", "m1", "m8", "m y", "m", "mzx",
                           "mzxw6y", "mz", "mzxr", "mzxw7", "my\n"})
    EXPECT_FALSE(decode_base32(text)) << text;
}

TEST(Base58Test, WritesAndReadsKnownPairs) {
  const std::pair<const char*, const char*> cases[]
    = {{"", ""},
       {"00", "1"},
       {"61", "2g"},
       {"626262", "a3gV"},
       {"636363", "aPEr"},
       {"0000287fb4cd", "11233QC4"},
       {"73696d706c792061206c6f6e6720737472696e67",
        "2cFupjhnEsSn59qHXstmK2ffpLv2"},
       {"00eb15231dfceb60925886b67d065299925915aeb172c06647",
        "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"}};
  for (const auto& [hex, text] : cases) {
    const auto plain = tests::decode_hex(hex);
    ASSERT_TRUE(plain);
    EXPECT_EQ(encode_base58(*plain), text);
    EXPECT_EQ(decode_base58(text), plain);
  }
}

TEST(Base58Test, RefusesLettersOutsideTheAlphabet) {
  for (const auto* text : {"0", "O", "I", "l", "a b", "z-", "+"})
    EXPECT_FALSE(decode_base58(text)) << text;
}

TEST(Base58Test, TakesInputUpToItsLimitAndNoMore) {
  const std::string text(limits::base58_bytes_max, '2');
  EXPECT_TRUE(decode_base58(text));
  EXPECT_FALSE(decode_base58(text + "2"));
  const bytes plain(limits::base58_bytes_max, 1);
  EXPECT_FALSE(encode_base58(plain).empty());
  EXPECT_TRUE(encode_base58(bytes(plain.size() + 1, 1)).empty());
}

// RFC 4648, section 10.
TEST(Base64Test, WritesWithoutPaddingAndReadsBothForms) {
  const std::tuple<const char*, const char*, const char*> cases[]
    = {{"", "", ""},
       {"f", "Zg", "Zg=="},
       {"fo", "Zm8", "Zm8="},
       {"foo", "Zm9v", "Zm9v"},
       {"foob", "Zm9vYg", "Zm9vYg=="},
       {"fooba", "Zm9vYmE", "Zm9vYmE="},
       {"foobar", "Zm9vYmFy", "Zm9vYmFy"}};
  for (const auto& [plain, bare, padded] : cases) {
    EXPECT_EQ(base64(plain), bare);
    EXPECT_EQ(as_string(decode_base64(bare)), plain);
    EXPECT_EQ(as_string(decode_base64(padded)), plain);
  }
}

TEST(Base64Test, RefusesWrongPaddingStrayBitsAndForeignLetters) {
  for (const auto* text :
       {"=",     "==",       "====",     "Z",    "Zg=",  "Zg===", "Zm8==",
        "Zm9v=", "Zm9v==",   "Zm9v====", "Zh",   "Zm9",  "Zh==",  "Zm9=",
        "Z===",  "Zg==Zg==", "Z g=",     "Zg\n", "Zm-_", "Zm9v\n"})
    EXPECT_FALSE(decode_base64(text)) << text;
}

TEST(HexTest, WritesLowerCase) {
  EXPECT_EQ(encode_hex(bytes{0x00, 0x9f, 0xff}), "009fff");
}

TEST(EncodingsTest, AppendKeepsWhatIsThere) {
  std::string out = "x:";
  append_base32(as_bytes("foo"), out);
  append_base64(as_bytes("foo"), out);
  EXPECT_EQ(out, "x:mzxw6Zm9v");
}

TEST(EncodingsTest, EverySizeSurvivesARoundTrip) {
  const auto random = seeded_random(11);
  for (size_t size = 0; size < 130; ++size) {
    bytes plain(size);
    random->fill(plain);
    std::string text32;
    std::string text64;
    append_base32(plain, text32);
    append_base64(plain, text64);
    EXPECT_EQ(text32.size(), base32_size(size));
    EXPECT_EQ(text64.size(), base64_size(size));
    EXPECT_EQ(decode_base32(text32), plain);
    EXPECT_EQ(decode_base64(text64), plain);
    EXPECT_EQ(decode_base58(encode_base58(plain)), plain);
    EXPECT_EQ(tests::decode_hex(encode_hex(plain)), plain);
  }
}

} // namespace weir::atproto
