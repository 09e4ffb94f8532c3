#include "base/limits.hpp"
#include "base/log.hpp"

#include <gmock/gmock.h>

#include <string>

namespace weir::log {

namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;
using testing::Not;

/// The output of `write` on stderr.
template <class Write>
std::string captured(format layout, Write write) {
  configure(level::debug, layout);
  testing::internal::CaptureStderr();
  write();
  auto out = testing::internal::GetCapturedStderr();
  configure(level::off, format::text);
  return out;
}

std::string text_line(std::string_view value) {
  return captured(format::text, [&] {
    info("frame", {{"reason", value}});
  });
}

std::string json_line(std::string_view value) {
  return captured(format::json, [&] {
    info("frame", {{"reason", value}});
  });
}

} // namespace

TEST(LogTest, ATextLineIsTimeLevelEventAndFields) {
  const auto line = captured(format::text, [] {
    warn("commit_refused", {{"did", "did:plc:abc"}, {"seq", 42}});
  });
  EXPECT_THAT(line, MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T.*Z warn.* "
                                 "commit_refused did=did:plc:abc seq=42\n"));
}

TEST(LogTest, AJsonLineIsOneObject) {
  const auto line = captured(format::json, [] {
    error("disk", {{"path", "/d\"x"}, {"free", 0}});
  });
  EXPECT_THAT(line, MatchesRegex("\\{\"time\":\"[^\"]*\",\"level\":\"error\","
                                 "\"event\":\"disk\",.*\\}\n"));
  EXPECT_THAT(line, EndsWith(",\"path\":\"/d\\\"x\",\"free\":\"0\"}\n"));
}

TEST(LogTest, LinesBelowTheLevelAreNotWritten) {
  const auto out = captured(format::text, [] {
    configure(level::warn, format::text);
    debug("one");
    info("two");
    EXPECT_FALSE(enabled(level::info));
    EXPECT_TRUE(enabled(level::warn));
  });
  EXPECT_THAT(out, IsEmpty());
}

// Bytes from the network must not control a terminal or forge a second line.
TEST(LogTest, ControlBytesNeverLeaveRaw) {
  for (int byte = 0; byte < 0x20; ++byte) {
    const std::string value{'a', static_cast<char>(byte), 'b'};
    for (const auto& line : {text_line(value), json_line(value)}) {
      EXPECT_THAT(line, EndsWith("\n"));
      const auto body = line.substr(0, line.size() - 1);
      EXPECT_EQ(body.find(static_cast<char>(byte)), std::string::npos) << byte;
      EXPECT_THAT(body, HasSubstr("\\u00"));
    }
  }
  EXPECT_THAT(text_line("a\x7f"), HasSubstr("a\\u007f"));
}

TEST(LogTest, ControlsOfUnicodeNeverLeaveRaw) {
  for (const auto* text : {"\xc2\x9b", "\xc2\x85", "\xe2\x80\xae",
                           "\xe2\x80\xa8", "\xe2\x81\xa6", "\x9b"})
    for (const auto& line : {text_line(text), json_line(text)}) {
      EXPECT_EQ(line.find(text), std::string::npos) << line;
      EXPECT_THAT(line, HasSubstr("\\u"));
    }
  EXPECT_THAT(text_line("caf\xc3\xa9"), HasSubstr("caf\xc3\xa9"));
}

TEST(LogTest, AValueCannotPretendToBeAnotherField) {
  EXPECT_THAT(text_line("x did=y"), EndsWith(" reason=\"x did=y\"\n"));
  EXPECT_THAT(text_line("a\" did=\"b"), EndsWith("\"a\\\" did=\\\"b\"\n"));
  EXPECT_THAT(text_line("a\\"), EndsWith("\"a\\\\\"\n"));
  EXPECT_THAT(text_line(""), EndsWith(" reason=\"\"\n"));
}

TEST(LogTest, ALongValueIsCut) {
  constexpr auto most = limits::log_value_bytes_max;
  EXPECT_THAT(text_line(std::string(most, 'x')),
              HasSubstr(std::string(most, 'x')));
  const auto line = text_line(std::string(most + 1, 'x'));
  EXPECT_THAT(line, HasSubstr(std::string(most, 'x')));
  EXPECT_THAT(line, Not(HasSubstr(std::string(most + 1, 'x'))));
}

} // namespace weir::log
