#include "actors/node/limits.hpp"
#include "apps/weir/load_settings.hpp"
#include "tests/support/private_file.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

namespace weir::apps {

namespace {

class LoadSettingsTest : public testing::Test {
protected:
  void write(const std::string& name, std::string_view text) {
    tests::write_private(dir.at(name), text);
  }

  void file(std::string_view text) {
    write("f.toml", text);
    flags.config = dir.at("f.toml");
  }

  void flag(std::string_view name, std::vector<std::string> texts) {
    flags.given[find_option(name)] = std::move(texts);
  }

  loaded_settings load() { return load_settings(flags, variables); }

  const tests::temp_dir dir;
  flag_values flags;
  environment variables;
};

} // namespace

TEST_F(LoadSettingsTest, NothingGivenMeansTheDefaults) {
  const auto x = load();
  EXPECT_TRUE(x.problems.empty());
  EXPECT_TRUE(x.origins.empty());
  for (const auto& each : all_options())
    EXPECT_EQ(each.get(x.values), each.get(settings{})) << each.name;
}

TEST_F(LoadSettingsTest, FlagsWinOverTheEnvironmentAndThatOverTheFile) {
  file("readers = 3\nsync_parallelism = 4\nthreads = 5\nsync_per_host = 6\n");
  variables["WEIR_SYNC_PARALLELISM"] = "14";
  variables["WEIR_THREADS"] = "15";
  flag("threads", {"25"});
  flag("sync_per_host", {"26"});
  const auto x = load();
  ASSERT_TRUE(x.problems.empty()) << x.problems.front();
  EXPECT_EQ(x.values.readers, 3u);
  EXPECT_EQ(x.values.sync_parallelism, 14u);
  EXPECT_EQ(x.values.threads, 25u);
  EXPECT_EQ(x.values.sync_per_host, 26u);
  EXPECT_EQ(x.origins.at(find_option("readers")), dir.at("f.toml") + ":1");
  EXPECT_EQ(x.origins.at(find_option("sync_parallelism")),
            "WEIR_SYNC_PARALLELISM");
  EXPECT_EQ(x.origins.at(find_option("threads")), "--threads");
}

TEST_F(LoadSettingsTest, TheEnvironmentMayNameTheFile) {
  write("f.toml", "readers = 7\n");
  variables["WEIR_CONFIG"] = dir.at("f.toml");
  EXPECT_EQ(load().values.readers, 7u);
}

TEST_F(LoadSettingsTest, AVariableThatIsNearlyAnOptionsIsAProblem) {
  variables["WEIR_PLC_ULR"] = "https://plc.directory";
  EXPECT_EQ(load().problems,
            std::vector<std::string>{
              "unknown variable WEIR_PLC_ULR; did you mean WEIR_PLC_URL?"});
}

// A user of Tap writes Tap's names with our prefix.
TEST_F(LoadSettingsTest, WhatTapCallsAnOptionIsAProblemThatNamesOurs) {
  for (const auto& [name, meant] :
       {std::pair{"WEIR_ADMIN_PASSWORD", "WEIR_ADMIN_PASSWORD_FILE"},
        std::pair{"WEIR_PASSWORD", "WEIR_ADMIN_PASSWORD_FILE"},
        std::pair{"WEIR_RELAY", "WEIR_UPSTREAM"},
        std::pair{"WEIR_RELAY_URL", "WEIR_UPSTREAM"},
        std::pair{"WEIR_DATABASE_URL", "WEIR_DATA_DIR"},
        std::pair{"WEIR_FULL_NETWORK", "WEIR_MODE"},
        std::pair{"WEIR_COLLECTION_FILTERS", "WEIR_COLLECTIONS"},
        std::pair{"WEIR_DISABLE_ACKS", "WEIR_CONSUMER_DISABLE_ACKS"},
        std::pair{"WEIR_RETRY_TIMEOUT", "WEIR_CONSUMER_RETRY"},
        std::pair{"WEIR_RESYNC_PARALLELISM", "WEIR_SYNC_PARALLELISM"},
        std::pair{"WEIR_METRICS_LISTEN", "WEIR_OPERATIONS_BIND"}}) {
    variables = {{name, "x"}};
    EXPECT_EQ(load().problems,
              std::vector<std::string>{std::string{"unknown variable "} + name
                                       + "; did you mean " + meant + "?"});
    EXPECT_NE(std::ranges::find(all_options(), meant, &option::variable),
              all_options().end())
      << meant;
  }
}

TEST_F(LoadSettingsTest, WhatPeopleGuessIsAProblemThatNamesTheOption) {
  for (const auto& [name, meant] :
       {std::pair{"WEIR_PASSWORD_FILE", "WEIR_ADMIN_PASSWORD_FILE"},
        std::pair{"WEIR_PLC", "WEIR_PLC_URL"},
        std::pair{"WEIR_PLC_DIRECTORY", "WEIR_PLC_URL"},
        std::pair{"WEIR_RELAYS", "WEIR_UPSTREAM"},
        std::pair{"WEIR_PDS", "WEIR_UPSTREAM"},
        std::pair{"WEIR_HOSTS", "WEIR_UPSTREAM"},
        std::pair{"WEIR_PORT", "WEIR_BIND"},
        std::pair{"WEIR_LISTEN", "WEIR_BIND"},
        std::pair{"WEIR_MEMORY", "WEIR_MEMORY_LIMIT"},
        std::pair{"WEIR_DATA", "WEIR_DATA_DIR"},
        std::pair{"WEIR_FILTER", "WEIR_COLLECTIONS"}}) {
    variables = {{name, "x"}};
    EXPECT_EQ(load().problems,
              std::vector<std::string>{std::string{"unknown variable "} + name
                                       + "; did you mean " + meant + "?"});
  }
}

TEST_F(LoadSettingsTest, AVariableThatNobodyKnowsIsNamedAndNoProblem) {
  variables["WEIR_REQUIRE_VECTORS"] = "1";
  variables["WEIR_BANANA"] = "1";
  const auto x = load();
  EXPECT_TRUE(x.problems.empty());
  EXPECT_EQ(x.others.unknown, (std::vector<std::string>{
                                "WEIR_BANANA", "WEIR_REQUIRE_VECTORS"}));
  EXPECT_EQ(sentences_of(x.others).size(), 1u);
}

// For services named weir and weir-data.
TEST_F(LoadSettingsTest, WhatAClusterSetsForAServiceIsPassedOver) {
  for (const auto* name :
       {"WEIR_SERVICE_HOST", "WEIR_SERVICE_PORT", "WEIR_SERVICE_PORT_DATA",
        "WEIR_PORT", "WEIR_PORT_2480_TCP", "WEIR_PORT_2480_TCP_ADDR",
        "WEIR_DATA_SERVICE_HOST", "WEIR_DATA_PORT"})
    variables[name] = "tcp://10.0.0.1:2480";
  variables["WEIR_CRASH_AT"] = "nowhere";
  const auto x = load();
  EXPECT_TRUE(x.problems.empty()) << x.problems.front();
  EXPECT_TRUE(x.others.unknown.empty()) << x.others.unknown.front();
}

TEST_F(LoadSettingsTest, OfEachVariableOfTapItsHintNamesTheOption) {
  for (const auto& [name, hint] :
       {std::pair{"TAP_RELAY_URL",
                  "upstream means the same: set WEIR_UPSTREAM=relay:URL"},
        std::pair{"TAP_FULL_NETWORK",
                  "mode means the same: set WEIR_MODE=full-network"},
        std::pair{"TAP_PLC_URL", "plc_url means the same: set WEIR_PLC_URL"},
        std::pair{"TAP_WEBHOOK_URL", "no option of it means the same"}}) {
    variables = {{name, "secret"}};
    const auto x = load();
    EXPECT_TRUE(x.problems.empty());
    EXPECT_TRUE(x.others.unknown.empty());
    ASSERT_EQ(x.others.tap.size(), 1u);
    EXPECT_EQ(x.others.tap[0].name, name);
    EXPECT_TRUE(x.others.tap[0].hint.ends_with(hint)) << x.others.tap[0].hint;
    EXPECT_EQ(x.others.tap[0].hint.find("secret"), std::string::npos);
  }
}

TEST_F(LoadSettingsTest, ARepeatedFlagAddsUpAndReplacesTheFilesList) {
  file("upstream = [\"relay:https://old.example.com\"]\n");
  flag("upstream",
       {"relay:https://a.example.com", "pds:https://b.example.com"});
  const auto x = load();
  ASSERT_TRUE(x.problems.empty()) << x.problems.front();
  ASSERT_EQ(x.values.upstreams.size(), 2u);
  EXPECT_EQ(x.values.upstreams[1].url, "https://b.example.com");
}

TEST_F(LoadSettingsTest, WhatIsOfferedForAnUpstreamIsTaken) {
  constexpr std::string_view offer = "did you mean ";
  for (const auto& [given, meant] :
       {std::pair{"https://bsky.network", "relay:https://bsky.network"},
        std::pair{"wss://bsky.network", "relay:https://bsky.network"},
        std::pair{"wss://bsky.network/xrpc/x", "relay:https://bsky.network"},
        std::pair{"bsky.network", "relay:https://bsky.network"},
        std::pair{"tap:https://bsky.network", "relay:https://bsky.network"},
        std::pair{"relay=https://bsky.network", "relay:https://bsky.network"},
        std::pair{"pds=https://pds.example.com", "pds:https://pds.example.com"},
        std::pair{"ftp", ""}, std::pair{"relay", ""},
        std::pair{"https://u:p@bsky.network", ""},
        std::pair{"https://bsky..network", ""}}) {
    flags.given.clear();
    flag("upstream", {given});
    const auto x = load().problems;
    ASSERT_EQ(x.size(), 1u);
    EXPECT_NE(x[0].find("must be a list of relay:URL or pds:URL"),
              std::string::npos);
    const auto at = x[0].find(offer);
    ASSERT_EQ(at == std::string::npos, *meant == '\0') << x[0];
    if (*meant == '\0')
      continue;
    EXPECT_EQ(x[0].substr(at + offer.size()), meant + std::string{"?"});
    flags.given.clear();
    flag("upstream", {meant});
    EXPECT_TRUE(load().problems.empty()) << meant;
  }
}

TEST_F(LoadSettingsTest, ProblemsOfAllSourcesAreReportedAtOnce) {
  file("sync_parallelism = 257\nunknown_thing = 1\n");
  variables["WEIR_READERS"] = "none";
  flag("retry_backoff_min", {"1500ms"});
  flag("bind", {"0.0.0.0:2480"});
  const auto x = load().problems;
  ASSERT_EQ(x.size(), 5u);
  EXPECT_EQ(x[0], dir.at("f.toml") + ":2:1: unknown key \"unknown_thing\"; \"weir config print\" lists all options");
  EXPECT_EQ(x[1], dir.at("f.toml")
                    + ":1:1: sync_parallelism = 257: must be a whole number "
                      "from 1 to 256");
  EXPECT_EQ(x[2], "WEIR_READERS = none: must be a whole number from 1 to 64");
  EXPECT_EQ(x[3], "--retry-backoff-min = 1500ms: must be whole seconds");
  EXPECT_TRUE(x[4].starts_with("bind: 0.0.0.0:2480")) << x[4];
}

TEST_F(LoadSettingsTest, AFreeDataPortTakesTheOperationsPortWithIt) {
  flag("bind", {"127.0.0.1:0"});
  EXPECT_EQ(load().values.operations_bind, "127.0.0.1:0");
  flag("operations_bind", {"127.0.0.1:2481"});
  EXPECT_EQ(load().values.operations_bind, "127.0.0.1:2481");
}

TEST_F(LoadSettingsTest, ThePasswordComesFromItsFileWithoutTheLineBreak) {
  write("password", "correct horse battery\n");
  flag("admin_password_file", {dir.at("password")});
  flag("bind", {"0.0.0.0:2480"});
  const auto x = load();
  EXPECT_TRUE(x.problems.empty()) << x.problems.front();
  EXPECT_EQ(x.values.admin_password, "correct horse battery");
}

// hostile-inputs.md 2.2.3: passwords shorter than 16 bytes are refused.
TEST_F(LoadSettingsTest, APasswordHasTheAllowedLength) {
  constexpr auto range = limits::admin_password_bytes_range;
  const auto good = [this](size_t length, const std::string& end) {
    write("password", std::string(length, 'x') + end);
    return read_secret(dir.at("password"), "").has_value();
  };
  EXPECT_FALSE(good(range.min - 1, ""));
  EXPECT_FALSE(good(range.min - 1, "\n"));
  EXPECT_TRUE(good(range.min, ""));
  EXPECT_TRUE(good(range.min, "\r\n"));
  EXPECT_TRUE(good(range.max, "\r\n"));
  EXPECT_FALSE(good(range.max + 1, ""));
  EXPECT_FALSE(good(range.max + 3, ""));
}

TEST_F(LoadSettingsTest, APasswordIsOneLine) {
  write("password", "sixteen bytes at\nleast\n");
  EXPECT_FALSE(read_secret(dir.at("password"), ""));
}

TEST_F(LoadSettingsTest, APasswordFileThatIsAbsentIsOneProblem) {
  flag("admin_password_file", {dir.at("absent")});
  flag("bind", {"0.0.0.0:2480"});
  const auto x = load().problems;
  ASSERT_EQ(x.size(), 1u);
  EXPECT_EQ(x[0], "admin_password_file: " + dir.at("absent")
                    + ": cannot be read: No such file or directory; give the "
                      "path of a file with a password; this prints a good "
                      "one: head -c 24 /dev/urandom | base64");
}

} // namespace weir::apps
