#include "atproto/utf8.hpp"

#include <gtest/gtest.h>

#include <string>

namespace weir::atproto {

namespace {

/// Encodes any number, including those that are not valid in UTF-8.
std::string encode(uint32_t x) {
  const auto tail = [x](unsigned shift) {
    return static_cast<char>(0x80 | (x >> shift & 0x3f));
  };
  if (x < 0x80)
    return {static_cast<char>(x)};
  if (x < 0x800)
    return {static_cast<char>(0xc0 | x >> 6), tail(0)};
  if (x < 0x10000)
    return {static_cast<char>(0xe0 | x >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0 | x >> 18), tail(12), tail(6), tail(0)};
}

} // namespace

// protocol-coverage.md 6.4
TEST(Utf8Test, TakesEveryCodePointButSurrogates) {
  for (uint32_t x = 0; x <= 0x10ffff; ++x)
    ASSERT_EQ(valid_utf8(encode(x)), x < 0xd800 || x > 0xdfff) << x;
}

TEST(Utf8Test, TakesNothingAboveTheLastCodePoint) {
  for (uint32_t x = 0x110000; x < 0x200000; x += 7)
    ASSERT_FALSE(valid_utf8(encode(x))) << x;
}

// protocol-coverage.md 6.4
TEST(Utf8Test, RefusesOverlongFormsLoneBytesAndCutSequences) {
  for (const auto* text :
       {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xe0\x9f\xbf",
        "\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf5\x80\x80\x80", "\xfe",
        "\xff", "\xc3", "\xc3(", "\xe2\x82", "\xe2(\xac", "\xf0\x9f\x98",
        "\xf0\x9f(\x80", "\xf0(\x98\x80", "\xc3\xa9\xa9"})
    EXPECT_FALSE(valid_utf8(text));
}

// Complete words are checked at once; an error must be found at any place.
TEST(Utf8Test, FindsAFaultAtEveryPositionOfEveryLength) {
  for (size_t size = 1; size < 40; ++size)
    for (size_t at = 0; at < size; ++at) {
      std::string text(size, 'a');
      EXPECT_TRUE(valid_utf8(text));
      text[at] = '\xff';
      EXPECT_FALSE(valid_utf8(text)) << size << ' ' << at;
      EXPECT_FALSE(is_ascii(text)) << size << ' ' << at;
    }
}

TEST(Utf8Test, TakesASequenceAtEveryPosition) {
  for (size_t before = 0; before < 20; ++before)
    for (size_t after = 0; after < 20; ++after) {
      const auto text = std::string(before, 'a') + "\xf0\x9f\x98\x80"
                        + std::string(after, 'b');
      EXPECT_TRUE(valid_utf8(text));
      EXPECT_FALSE(valid_utf8(text.substr(0, before + 3)));
    }
}

// protocol-coverage.md 6.4
TEST(Utf8Test, NulIsACharacter) {
  EXPECT_TRUE(valid_utf8(std::string(17, '\0')));
}

} // namespace weir::atproto
