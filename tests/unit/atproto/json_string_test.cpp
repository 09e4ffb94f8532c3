#include "atproto/record_json.hpp"
#include "base/random.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

// Text in the JSON of records.

namespace weir::atproto {

namespace {

std::string in_json_string(std::string_view text) {
  std::string out;
  append_json_string(text, out);
  return out;
}

} // namespace

// protocol-coverage.md 6.4
TEST(JsonStringTest, EscapesWhatJsonDemandsAndNothingElse) {
  EXPECT_EQ(in_json_string(""), R"("")");
  EXPECT_EQ(in_json_string("\"\\/\b\f\n\r\t"), R"("\"\\/\b\f\n\r\t")");
  EXPECT_EQ(in_json_string(std::string{'\0', '\x01', '\x1f', '\x20', '\x7f'}),
            "\"\\u0000\\u0001\\u001f \x7f\"");
  EXPECT_EQ(in_json_string("<é😀&\xe2\x80\xa8>"), "\"<é😀&\xe2\x80\xa8>\"");
}

// Words of eight bytes are checked at once: each position must be tested.
TEST(JsonStringTest, FindsEveryByteAtEveryPosition) {
  for (size_t size = 1; size < 27; ++size)
    for (size_t at = 0; at < size; ++at)
      for (int c = 0; c < 0x80; ++c) {
        std::string text(size, 'a');
        text[at] = static_cast<char>(c);
        const auto out = in_json_string(text);
        ASSERT_EQ(boost::json::parse(out).as_string(), text) << c;
        if (c >= 0x20 && c != '"' && c != '\\') {
          ASSERT_EQ(out.size(), size + 2) << c;
        }
      }
}

TEST(JsonStringTest, SurvivesARoundTripWhateverIsInIt) {
  const auto random = seeded_random(9);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random->below(60); n > 0; --n) {
      const std::string_view parts[]
        = {"a", "\"", "\\", "\n", "\x01", "é", "漢", "😀", "plain text"};
      text += parts[random->below(std::size(parts))];
    }
    ASSERT_EQ(boost::json::parse(in_json_string(text)).as_string(), text);
  }
}

} // namespace weir::atproto
