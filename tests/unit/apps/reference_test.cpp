#include "apps/weir/load_settings.hpp"
#include "apps/weir/manual_page.hpp"
#include "tests/support/vectors.hpp"

#include <gtest/gtest.h>

namespace weir::apps {

namespace {

const std::filesystem::path conf{WEIR_CONF_DIR};

} // namespace

// `weir config print > conf/weir.toml` brings it up to date.
TEST(ReferenceTest, TheShippedReferenceListsEveryOptionWithItsDefault) {
  EXPECT_EQ(tests::read_file(conf / "weir.toml"), make_reference({}));
}

TEST(ReferenceTest, TheReferenceReadsBackAsTheDefaults) {
  const auto x = parse_config(make_reference({}), "weir.toml");
  EXPECT_TRUE(x.problems.empty()) << x.problems.front();
  ASSERT_EQ(x.values.size(), all_options().size());
  for (const auto& each : x.values)
    EXPECT_EQ(each.value, each.to->get(settings{})) << each.to->name;
}

TEST(ReferenceTest, WhatIsNotTheDefaultShowsWhereItComesFrom) {
  flag_values flags;
  flags.given[find_option("readers")] = {"9"};
  const auto text = make_reference(load_settings(flags, {}));
  EXPECT_NE(text.find("# From --readers.\nreaders = 9\n"), std::string::npos);
}

TEST(ReferenceTest, NoLineIsLongerThanAPage) {
  std::istringstream lines{make_reference({})};
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 79u) << line;
}

TEST(ReferenceTest, EveryShippedFileIsGood) {
  size_t files = 0;
  for (const auto& x : std::filesystem::directory_iterator{conf}) {
    if (x.path().extension() != ".toml")
      continue;
    ++files;
    flag_values flags;
    flags.config = x.path().string();
    for (const auto& problem : load_settings(flags, {}).problems)
      ADD_FAILURE() << problem;
  }
  EXPECT_GE(files, 3u);
}

// Its password is on the machine where it is installed (make check-package).
TEST(ReferenceTest, TheFileOfTheServiceSaysWhereItsDataAre) {
  const auto x = read_config((conf / "system" / "weir.toml").string());
  EXPECT_TRUE(x.problems.empty()) << x.problems.front();
  ASSERT_EQ(x.values.size(), 2u);
  EXPECT_EQ(x.values[0].to->name, "data_dir");
  EXPECT_EQ(x.values[0].value, option_value{"/var/lib/weir"});
  EXPECT_EQ(x.values[1].to->name, "admin_password_file");
}

// Everything that reaches outside is off, or needs a decision.
TEST(ReferenceTest, TheFileForTheRealNetworkIsSafe) {
  flag_values flags;
  flags.config = (conf / "bluesky.toml").string();
  const auto x = load_settings(flags, {}).values;
  EXPECT_EQ(x.bind, "127.0.0.1:2480");
  EXPECT_FALSE(x.allow_private_addresses);
  EXPECT_EQ(x.mode, actors::tracking_mode::manual);
  ASSERT_EQ(x.upstreams.size(), 1u);
  EXPECT_EQ(x.upstreams[0].url, "https://bsky.network");
  EXPECT_TRUE(x.upstreams[0].relay);
}

} // namespace weir::apps
