#include "apps/weir/config_file.hpp"
#include "apps/weir/limits.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace weir::apps {

namespace {

std::string only_problem(std::string_view text) {
  const auto x = parse_config(text, "f.toml");
  EXPECT_EQ(x.problems.size(), 1u) << text;
  return x.problems.empty() ? "" : x.problems.front();
}

const option_value* find(const given_values& x, std::string_view name) {
  for (const auto& each : x.values)
    if (each.to->name == name)
      return &each.value;
  return nullptr;
}

} // namespace

TEST(ConfigFileTest, EveryKindOfValueIsRead) {
  const auto x = parse_config(R"(
bind = "127.0.0.1:0"
allow_private_addresses = true
sync_parallelism = 8
plc_per_second = 2
memory_limit = "2GiB"
repo_bytes_max = 2097152
retry_backoff_min = "5s"
mode = "signal"
upstream = "pds:http://127.0.0.1:1"
collections = ["a.b.c", "d.e.*"]
)",
                              "f.toml");
  ASSERT_TRUE(x.problems.empty()) << x.problems.front();
  EXPECT_EQ(*find(x, "bind"), option_value{std::string{"127.0.0.1:0"}});
  EXPECT_EQ(*find(x, "allow_private_addresses"), option_value{true});
  EXPECT_EQ(*find(x, "sync_parallelism"), option_value{int64_t{8}});
  EXPECT_EQ(*find(x, "plc_per_second"), option_value{2.0});
  EXPECT_EQ(*find(x, "memory_limit"), option_value{int64_t{1} << 31});
  EXPECT_EQ(*find(x, "repo_bytes_max"), option_value{int64_t{1} << 21});
  EXPECT_EQ(*find(x, "retry_backoff_min"), option_value{int64_t{5'000}});
  EXPECT_EQ(*find(x, "mode"), option_value{std::string{"signal"}});
  EXPECT_EQ(*find(x, "upstream"),
            option_value{std::vector<std::string>{"pds:http://127.0.0.1:1"}});
  EXPECT_EQ(*find(x, "collections"),
            (option_value{std::vector<std::string>{"a.b.c", "d.e.*"}}));
}

TEST(ConfigFileTest, AnUnknownKeyNamesItsPlaceAndTheNearestKey) {
  EXPECT_EQ(only_problem("\n  plc_ulr = \"https://plc.directory\"\n"),
            "f.toml:2:3: unknown key \"plc_ulr\"; did you mean \"plc_url\"?");
  EXPECT_EQ(only_problem("frobnicate = 1\n"),
            "f.toml:1:1: unknown key \"frobnicate\"; \"weir config print\" lists all options");
  EXPECT_EQ(only_problem("[sync]\nparallelism = 3\n"),
            "f.toml:1:2: unknown key \"sync\"; \"weir config print\" lists all options");
}

TEST(ConfigFileTest, AValueOfTheWrongTypeNamesKeyValueAndRange) {
  EXPECT_EQ(only_problem("sync_parallelism = \"many\""),
            "f.toml:1:1: sync_parallelism = 'many': must be a whole number "
            "from 1 to 256");
  EXPECT_EQ(only_problem("retry_backoff_min = 30"),
            "f.toml:1:1: retry_backoff_min = 30: must be a duration from 1s to 7d");
  EXPECT_EQ(only_problem("retry_backoff_min = \"30\""),
            "f.toml:1:1: retry_backoff_min = '30': must be a duration from 1s to 7d");
  EXPECT_EQ(only_problem("memory_limit = \"lots\""),
            "f.toml:1:1: memory_limit = 'lots': must be a size from 128MiB to "
            "1TiB");
  EXPECT_EQ(only_problem("allow_private_addresses = \"true\""),
            "f.toml:1:1: allow_private_addresses = 'true': must be true or "
            "false");
  EXPECT_EQ(only_problem("mode = 3"),
            "f.toml:1:1: mode = 3: must be one of manual, signal, "
            "full-network");
  EXPECT_EQ(only_problem("collections = [1]"),
            "f.toml:1:1: collections = [ 1 ]: must be a list of NSID,...");
  EXPECT_EQ(only_problem("bind = 2480"),
            "f.toml:1:1: bind = 2480: must be a text: ADDRESS:PORT");
}

TEST(ConfigFileTest, AllProblemsAreReportedAtOnce) {
  const auto x
    = parse_config("a = 1\nmode = 3\nbnid = \"x\"\nthreads = 2\n", "f.toml");
  EXPECT_EQ(x.problems.size(), 3u);
  EXPECT_EQ(x.values.size(), 1u);
}

TEST(ConfigFileTest, TextThatIsNoTomlNamesItsPlace) {
  const auto x = only_problem("bind = \"127.0.0.1:0\"\nmode = \n");
  EXPECT_TRUE(x.starts_with("f.toml:2:")) << x;
  EXPECT_TRUE(only_problem("mode = 'manual'\nmode = 'signal'\n")
                .starts_with("f.toml:2:"));
}

TEST(ConfigFileTest, AFileThatCannotBeReadIsAProblem) {
  const tests::temp_dir dir;
  EXPECT_EQ(read_config(dir.at("absent.toml")).problems,
            std::vector{dir.at("absent.toml")
                        + ": cannot be read: No such file or directory; give "
                          "the path of a TOML file, such as one that weir "
                          "config print wrote"});
  const auto folder = read_config(dir.path().string()).problems;
  ASSERT_EQ(folder.size(), 1u);
  EXPECT_NE(folder[0].find("it is no file; give the path of a TOML file"),
            std::string::npos)
    << folder[0];
}

TEST(ConfigFileTest, AFileIsReadUpToTheLimitAndNotBeyond) {
  const tests::temp_dir dir;
  const auto path = dir.at("large.toml");
  std::ofstream{path} << std::string(limits::config_file_bytes_max, '\n');
  EXPECT_TRUE(read_config(path).problems.empty());
  std::ofstream{path, std::ios::app} << '\n';
  EXPECT_EQ(read_config(path).problems,
            std::vector{path
                        + ": more than 1048576 bytes; give the path of a TOML "
                          "file, such as one that weir config print wrote"});
}

} // namespace weir::apps
