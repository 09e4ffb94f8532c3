#include "apps/weir/option_table.hpp"

#include <gtest/gtest.h>

#include <set>

namespace weir::apps {

namespace {

const option& named(std::string_view name) {
  const auto* out = find_option(name);
  EXPECT_NE(out, nullptr) << name;
  return *out;
}

bool takes(const option& x, const option_value& value) {
  settings to;
  const bool taken = x.set(to, value).has_value();
  // A refused value changes nothing, an accepted one is there.
  EXPECT_EQ(x.get(to), taken ? value : x.get(settings{})) << x.name;
  return taken;
}

} // namespace

TEST(OptionTableTest, NamesAreUniqueAndEverythingIsExplained) {
  std::set<std::string_view> names;
  for (const auto& x : all_options()) {
    EXPECT_TRUE(names.insert(x.name).second) << x.name;
    EXPECT_EQ(x.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"),
              std::string_view::npos);
    EXPECT_FALSE(x.group.empty()) << x.name;
    EXPECT_TRUE(x.meaning.ends_with('.')) << x.name;
    EXPECT_FALSE(x.requirement().empty()) << x.name;
  }
}

TEST(OptionTableTest, OneNameGivesTheFlagAndTheVariable) {
  const auto& x = named("allow_private_addresses");
  EXPECT_EQ(x.flag(), "--allow-private-addresses");
  EXPECT_EQ(x.variable(), "WEIR_ALLOW_PRIVATE_ADDRESSES");
}

// The flags that users were promised exist.
TEST(OptionTableTest, TheFlagsThatUsersWerePromisedExist) {
  std::set<std::string> flags;
  for (const auto& x : all_options())
    flags.insert(x.flag());
  for (const auto* x :
       {"--data-dir", "--bind", "--operations-bind", "--plc-url", "--upstream",
        "--handle-resolver-url", "--allow-private-addresses",
        "--admin-password-file", "--mode", "--signal-collection",
        "--collections", "--memory-limit", "--log-level", "--log-format"})
    EXPECT_TRUE(flags.contains(x)) << x;
}

TEST(OptionTableTest, EveryDefaultIsAValueThatTheOptionTakes) {
  for (const auto& x : all_options()) {
    settings to;
    EXPECT_TRUE(x.set(to, x.get(settings{}))) << x.name;
  }
}

// A first run is as fast as the directory: 20 a second took 14 s for 300 repos.
TEST(OptionTableTest, LookUpsAreAsFastAsTheDirectoryByDefault) {
  EXPECT_EQ(settings{}.plc_per_second, 500);
}

TEST(OptionTableTest, EveryDefaultReadsBackFromItsText) {
  for (const auto& x : all_options()) {
    const auto value = x.get(settings{});
    auto text = to_toml(x.kind, value);
    if (x.kind == value_kind::list)
      text = "";
    else if (text.starts_with('"'))
      text = text.substr(1, text.size() - 2);
    const auto again = parse_value(x.kind, text);
    ASSERT_TRUE(again) << x.name << " " << text;
    EXPECT_EQ(*again, value) << x.name;
  }
}

TEST(OptionTableTest, ExamplesAreValuesThatTheOptionTakes) {
  for (const auto& x : all_options()) {
    const auto value = parse_value(x.kind, x.example);
    settings to;
    EXPECT_TRUE(x.example.empty() || (value && x.set(to, *value))) << x.name;
  }
}

TEST(OptionTableTest, RangesTakeTheirLimitsAndNothingBeyond) {
  for (const auto& x : all_options()) {
    if (x.range) {
      const int64_t step = x.kind == value_kind::duration ? 1'000 : 1;
      EXPECT_TRUE(takes(x, x.range->min)) << x.name;
      EXPECT_TRUE(takes(x, x.range->max)) << x.name;
      EXPECT_FALSE(takes(x, x.range->min - step)) << x.name;
      EXPECT_FALSE(takes(x, x.range->max + step)) << x.name;
    }
    if (x.real_range) {
      EXPECT_TRUE(takes(x, x.real_range->min)) << x.name;
      EXPECT_TRUE(takes(x, x.real_range->max)) << x.name;
      EXPECT_FALSE(takes(x, x.real_range->min * 0.999)) << x.name;
      EXPECT_FALSE(takes(x, x.real_range->max * 1.001)) << x.name;
    }
  }
}

TEST(OptionTableTest, ChoicesTakeTheirWordsAndNoOthers) {
  for (const auto& x : all_options()) {
    for (const auto& word : x.words)
      EXPECT_TRUE(takes(x, std::string{word})) << x.name << " " << word;
    EXPECT_FALSE(x.kind == value_kind::choice
                 && takes(x, std::string{"neither"}))
      << x.name;
  }
}

TEST(OptionTableTest, ADurationBelowASecondIsNotRoundedInSilence) {
  settings to;
  const auto taken = named("retry_backoff_min").set(to, int64_t{1'500});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().context, "whole seconds");
}

TEST(OptionTableTest, AnUpstreamSaysWhatItIs) {
  settings to;
  const auto& x = named("upstream");
  ASSERT_TRUE(x.set(to, std::vector<std::string>{"relay:https://a.example",
                                                 "pds:http://b.example:1"}));
  ASSERT_EQ(to.upstreams.size(), 2u);
  EXPECT_TRUE(to.upstreams[0].relay);
  EXPECT_EQ(to.upstreams[0].url, "https://a.example");
  EXPECT_FALSE(to.upstreams[1].relay);
  EXPECT_EQ(to.upstreams[1].url, "http://b.example:1");
  EXPECT_FALSE(x.set(to, std::vector<std::string>{"https://a.example"}));
  EXPECT_EQ(to.upstreams.size(), 2u);
}

// SYNC-11, SYNC-15, SYNC-40: the defaults of the source text, under its names.
TEST(OptionTableTest, DefaultsAreThoseOfTheSourceText) {
  const auto shown = [](std::string_view name) {
    const auto& x = named(name);
    return to_toml(x.kind, x.get(settings{}));
  };
  EXPECT_EQ(shown("mode"), R"("manual")");
  EXPECT_EQ(shown("signal_collection"), "[]");
  EXPECT_EQ(shown("collections"), "[]");
  EXPECT_EQ(shown("sync_parallelism"), "3");
  EXPECT_EQ(shown("retry_backoff_min"), R"("1m")");
  EXPECT_EQ(shown("retry_backoff_max"), R"("1h")");
}

} // namespace weir::apps
