#include "apps/weir/option_value.hpp"

#include <gtest/gtest.h>

namespace weir::apps {

namespace {

int64_t number(value_kind kind, std::string_view text) {
  const auto x = parse_value(kind, text);
  EXPECT_TRUE(x) << text;
  return x ? std::get<int64_t>(*x) : -1;
}

} // namespace

TEST(OptionValueTest, SizesTakeBinaryUnitsAndPlainBytes) {
  EXPECT_EQ(number(value_kind::size, "0"), 0);
  EXPECT_EQ(number(value_kind::size, "512"), 512);
  EXPECT_EQ(number(value_kind::size, "512B"), 512);
  EXPECT_EQ(number(value_kind::size, "64KiB"), 65'536);
  EXPECT_EQ(number(value_kind::size, "64MiB"), 67'108'864);
  EXPECT_EQ(number(value_kind::size, "2GiB"), 2'147'483'648);
  EXPECT_EQ(number(value_kind::size, "1TiB"), 1'099'511'627'776);
}

// SYNC-41: durations parse with unit suffixes.
TEST(OptionValueTest, DurationsNeedAUnit) {
  EXPECT_EQ(number(value_kind::duration, "250ms"), 250);
  EXPECT_EQ(number(value_kind::duration, "30s"), 30'000);
  EXPECT_EQ(number(value_kind::duration, "5m"), 300'000);
  EXPECT_EQ(number(value_kind::duration, "1h"), 3'600'000);
  EXPECT_EQ(number(value_kind::duration, "7d"), 604'800'000);
  EXPECT_FALSE(parse_value(value_kind::duration, "30"));
}

// SYNC-41: a wrong duration among them
TEST(OptionValueTest, TextThatIsNoValueOfTheKindIsRefused) {
  for (const auto* x : {"", "MiB", "-1", "+1", "1 MiB", "1mib", "1.5MiB",
                        "1MiBs", "9223372036854775808", "9007199254740993TiB"})
    EXPECT_FALSE(parse_value(value_kind::size, x)) << x;
  for (const auto* x :
       {"", "s", "-1s", "1S", "1s ", "1.5s", "1h30m", "9223372036854775807d"})
    EXPECT_FALSE(parse_value(value_kind::duration, x)) << x;
  for (const auto* x : {"", "yes", "1", "True", "on"})
    EXPECT_FALSE(parse_value(value_kind::boolean, x)) << x;
  for (const auto* x : {"", "3x", "0x10", " 3", "3.0", "9223372036854775808"})
    EXPECT_FALSE(parse_value(value_kind::number, x)) << x;
  for (const auto* x : {"", "x", "nan", "inf", "1e999", "1 "})
    EXPECT_FALSE(parse_value(value_kind::real, x)) << x;
}

TEST(OptionValueTest, TheLargestUnitThatFitsIsWritten) {
  EXPECT_EQ(format_size(0), "0B");
  EXPECT_EQ(format_size(1), "1B");
  EXPECT_EQ(format_size(1'536), "1536B");
  EXPECT_EQ(format_size(1'073'741'824), "1GiB");
  EXPECT_EQ(format_duration(0), "0s");
  EXPECT_EQ(format_duration(250), "250ms");
  EXPECT_EQ(format_duration(90'000), "90s");
  EXPECT_EQ(format_duration(86'400'000), "1d");
}

TEST(OptionValueTest, ListsAreSeparatedByCommasAndLoseSpaces) {
  const auto x = parse_value(value_kind::list, " a.b , c.*,,d ");
  ASSERT_TRUE(x);
  EXPECT_EQ(std::get<std::vector<std::string>>(*x),
            (std::vector<std::string>{"a.b", "c.*", "d"}));
  EXPECT_EQ(to_toml(value_kind::list, *x), R"(["a.b", "c.*", "d"])");
}

TEST(OptionValueTest, TextIsQuotedSoThatTomlReadsItBack) {
  EXPECT_EQ(quoted("plain"), R"("plain")");
  EXPECT_EQ(quoted("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(quoted("line\nend\x7f"), R"("line\u000Aend\u007F")");
}

} // namespace weir::apps
