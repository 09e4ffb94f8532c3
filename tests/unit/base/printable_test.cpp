#include "base/printable.hpp"

#include <gtest/gtest.h>

namespace weir {

TEST(PrintableTest, TextStaysAsItIs) {
  for (const std::string text :
       {"", "plain text ~", "caf\xc3\xa9 \xe2\x82\xac",
        "\xf0\x9f\xa6\x8b", "\xc2\xa0\xe2\x80\xa7\xe2\x81\xaa"})
    EXPECT_EQ(printable(text), text);
}

TEST(PrintableTest, NothingThatSteersATerminalIsLeft) {
  for (const auto& [text, shown] :
       std::vector<std::pair<std::string, std::string>>{
         {"a\x1b]0;PWN\x07z", "a\\u001b]0;PWN\\u0007z"},
         {std::string(1, '\0') + "\r\n\x7f", "\\u0000\\u000d\\u000a\\u007f"},
         {"\xc2\x80\xc2\x85\xc2\x9b\xc2\x9f",
          "\\u0080\\u0085\\u009b\\u009f"},
         {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f"},
         {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
         {"\xe2\x80\xaa\xe2\x80\xae", "\\u202a\\u202e"},
         {"\xe2\x81\xa6\xe2\x81\xa9\xef\xbb\xbf",
          "\\u2066\\u2069\\ufeff"}})
    EXPECT_EQ(printable(text), shown);
}

// A terminal with one byte a character reads 0x9b as CSI.
TEST(PrintableTest, BytesThatAreNoTextAreShownAsNumbers) {
  for (const auto& [text, shown] :
       std::vector<std::pair<std::string, std::string>>{
         {"\x9b\x80", "\\u009b\\u0080"},
         {"\xc3", "\\u00c3"},
         {"\xe2\x82" "a", "\\u00e2\\u0082a"},
         {"\xc0\x9b", "\\u00c0\\u009b"},
         {"\xe0\x82\x9b", "\\u00e0\\u0082\\u009b"},
         {"\xed\xa0\x80", "\\u00ed\\u00a0\\u0080"},
         {"\xf4\x90\x80\x80", "\\u00f4\\u0090\\u0080\\u0080"},
         {"\xff", "\\u00ff"}})
    EXPECT_EQ(printable(text), shown);
}

// A parser of the output gets the original text.
TEST(PrintableTest, JsonStaysJsonOfTheSameMeaning) {
  const std::string harmless = "{\"caf\xc3\xa9 \xf0\x9f\xa6\x8b\":[1.5,null]}";
  EXPECT_EQ(printable_json(harmless), harmless);
  const std::string escaped = R"(["\u001b\n\"\\"])";
  EXPECT_EQ(printable_json(escaped), escaped);
  for (const auto& [text, shown] :
       std::vector<std::pair<std::string, std::string>>{
         {"\x7f\xc2\x80\xc2\x9b\xc2\x9f", R"(\u007f\u0080\u009b\u009f)"},
         {"\xd8\x9c\xe2\x80\xae\xe2\x80\xa8", R"(\u061c\u202e\u2028)"},
         {"\xe2\x81\xa6\xef\xbb\xbf", R"(\u2066\ufeff)"},
         {"\x9b\xc3", R"(\ufffd\ufffd)"}})
    EXPECT_EQ(printable_json("[\"" + text + "\"]"), "[\"" + shown + "\"]");
}

} // namespace weir
