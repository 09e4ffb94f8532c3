#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace weir::tests {

namespace {

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST(CommandLineTest, HelpNamesEverySubcommand) {
  const auto x = run_program({"--help"});
  EXPECT_EQ(x.status, 0);
  for (const auto* name : {"run", "demo", "simnet", "verify", "repos", "config",
                           "manual", "completion", "version"})
    EXPECT_TRUE(contains(x.output, name)) << name;
}

TEST(CommandLineTest, HelpOfRunNamesEveryOption) {
  const auto x = run_program({"run", "--help"});
  EXPECT_EQ(x.status, 0);
  for (const auto* name :
       {"--config", "--data-dir", "--bind", "--operations-bind", "--plc-url",
        "--upstream", "--handle-resolver-url", "--allow-private-addresses",
        "--admin-password-file", "--mode", "--signal-collection",
        "--collections", "--memory-limit", "--log-level", "--log-format"})
    EXPECT_TRUE(contains(x.output, name)) << name;
}

TEST(CommandLineTest, WhatCannotBeUnderstoodEndsWithTwo) {
  EXPECT_EQ(run_program({}).status, 2);
  EXPECT_EQ(run_program({"frobnicate"}).status, 2);
  EXPECT_EQ(run_program({"run", "--frobnicate"}).status, 2);
  EXPECT_EQ(run_program({"run", "--bind"}).status, 2);
  EXPECT_EQ(run_program({"run", "extra"}).status, 2);
  EXPECT_EQ(run_program({"verify"}).status, 2);
  for (const auto* flag : {"--strict", "--full-network", "--plc-url=https://x"}) {
    const auto x = run_program({"verify", flag, "DIR"});
    EXPECT_EQ(x.status, 2) << flag;
    EXPECT_NE(x.errors.find("requires --against"), std::string::npos) << x.errors;
  }
  EXPECT_EQ(run_program({"simnet", "--accounts", "0"}).status, 2);
}

TEST(CommandLineTest, AMisspeltFlagNamesTheNearest) {
  const auto x = run_program({"run", "--plc-ulr", "https://plc.directory"});
  EXPECT_EQ(x.status, 2);
  EXPECT_TRUE(contains(x.errors, "did you mean \"--plc-url\"?")) << x.errors;
  EXPECT_EQ(x.output, "");
}

TEST(CommandLineTest, AFlagBeforeItsSubcommandIsToldItsPlace) {
  const std::string place
    = "it belongs after the subcommand: weir repos list --admin-password-file";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"repos", "--admin-password-file", "x", "list"},
        {"repos", "--admin-password-file=x", "list"}}) {
    const auto x = run_program(words);
    EXPECT_EQ(x.status, 2);
    EXPECT_TRUE(contains(x.errors, place)) << x.errors;
    EXPECT_FALSE(contains(x.errors, "did you mean")) << x.errors;
  }
  const auto without = run_program({"repos", "--admin-password-file", "x"});
  EXPECT_EQ(without.status, 2);
  EXPECT_TRUE(contains(without.errors, "weir repos add --admin-password-file"))
    << without.errors;
}

TEST(CommandLineTest, VersionIsOneLine) {
  const auto x = run_program({"version"});
  EXPECT_EQ(x.status, 0);
  EXPECT_TRUE(x.output.starts_with("weir ")) << x.output;
}

TEST(CommandLineTest, ConfigCheckAcceptsWhatWeShip) {
  for (const auto& x : std::filesystem::directory_iterator{WEIR_CONF_DIR}) {
    if (x.path().extension() != ".toml")
      continue;
    const auto checked = run_program({"config", "check", x.path().string()});
    EXPECT_EQ(checked.status, 0) << x.path() << " " << checked.errors;
  }
}

TEST(CommandLineTest, ConfigCheckReportsEveryProblemWithItsPlace) {
  const temp_dir dir;
  const auto path = dir.at("bad.toml");
  std::ofstream{path} << "bind = \"0.0.0.0:2480\"\nplc_ulr = \"x\"\n"
                         "sync_parallelism = 1000\n";
  const auto x = run_program({"config", "check", path});
  EXPECT_EQ(x.status, 1);
  EXPECT_EQ(x.output, "");
  EXPECT_TRUE(contains(x.errors, path
                                   + ":2:1: unknown key \"plc_ulr\"; did you "
                                     "mean \"plc_url\"?"))
    << x.errors;
  EXPECT_TRUE(contains(x.errors, ":3:1: sync_parallelism = 1000"));
  EXPECT_TRUE(contains(x.errors, "bind: 0.0.0.0:2480"));
}

// SYNC-41
TEST(CommandLineTest, ADurationWithoutAUnitIsRefused) {
  const temp_dir dir;
  const auto path = dir.at("durations.toml");
  std::ofstream{path} << "identity_refresh_min = \"20\"\nlisting_interval = 3600\n"
                         "gone_grace = \"1H\"\nlisting_grace = \"20s\"\n";
  const auto x = run_program({"config", "check", path});
  EXPECT_EQ(x.status, 1);
  for (const auto* place : {":1:1: identity_refresh_min", ":2:1: listing_interval",
                            ":3:1: gone_grace"})
    EXPECT_TRUE(contains(x.errors, path + place)) << x.errors;
  EXPECT_FALSE(contains(x.errors, "listing_grace")) << x.errors;
  const auto flag = run_program({"config", "print", "--gone-grace", "20"});
  EXPECT_NE(flag.status, 0);
  EXPECT_TRUE(contains(flag.errors, "gone-grace")) << flag.errors;
}

// The check reads the files that a node would read at its start.
TEST(CommandLineTest, ConfigCheckReadsTheCertificates) {
  const temp_dir dir;
  std::ofstream{dir.at("junk.pem")} << "junk\n";
  const auto path = dir.at("ca.toml");
  for (const auto& ca_file : {dir.at("junk.pem"), dir.at("absent")}) {
    std::ofstream{path} << "ca_file = \"" << ca_file << "\"\n";
    const auto x = run_program({"config", "check", path});
    EXPECT_EQ(x.status, 1) << x.output;
    EXPECT_TRUE(contains(x.errors, "ca_file: " + ca_file)) << x.errors;
  }
}

// A file with half of the output would look complete.
TEST(CommandLineTest, ConfigPrintPrintsAllOrNothing) {
  const temp_dir dir;
  const auto absent
    = run_program({"config", "print", "--config", dir.at("absent")});
  EXPECT_EQ(absent.status, 1);
  EXPECT_EQ(absent.output, "");
  EXPECT_TRUE(contains(absent.errors, "cannot be read")) << absent.errors;
  const std::string lost = WEIR_PROGRAM " config print > /dev/full 2> "
                           + dir.at("said");
  EXPECT_NE(std::system(lost.c_str()), 0);
  std::ostringstream said;
  said << std::ifstream{dir.at("said")}.rdbuf();
  EXPECT_TRUE(contains(said.str(), "could not be written")) << said.str();
}

TEST(CommandLineTest, BothConfigCommandsTakeTheFileBothWays) {
  const std::string path = WEIR_CONF_DIR "/weir.toml";
  for (const std::string command : {"check", "print"}) {
    const auto plain = run_program({"config", command, path});
    const auto named = run_program({"config", command, "--config", path});
    EXPECT_EQ(plain.status, 0) << plain.errors;
    EXPECT_EQ(named.status, 0) << named.errors;
    EXPECT_EQ(plain.output, named.output);
    EXPECT_TRUE(contains(plain.output, "weir.toml")) << plain.output;
  }
}

TEST(CommandLineTest, ConfigPrintShowsValuesAndWhereTheyComeFrom) {
  const auto x = run_program({"config", "print", "--readers", "7"},
                             {"WEIR_SYNC_PARALLELISM=9"});
  EXPECT_EQ(x.status, 0) << x.errors;
  EXPECT_TRUE(contains(x.output, "# From --readers.\nreaders = 7\n"));
  EXPECT_TRUE(
    contains(x.output, "# From WEIR_SYNC_PARALLELISM.\nsync_parallelism = 9"));
}

TEST(CommandLineTest, ManualAndCompletionArePrinted) {
  const auto program = run_program({"manual"});
  EXPECT_EQ(program.status, 0);
  EXPECT_TRUE(contains(program.output, "\n.TH weir 1 ")) << program.output;
  const auto file = run_program({"manual", "weir.toml"});
  EXPECT_EQ(file.status, 0);
  EXPECT_TRUE(contains(file.output, "\n.TH weir.toml 5 ")) << file.output;
  EXPECT_EQ(run_program({"manual", "bash"}).status, 2);
  const auto script = run_program({"completion", "bash"});
  EXPECT_EQ(script.status, 0);
  EXPECT_TRUE(script.output.ends_with("\ncomplete -F _weir weir\n"));
  EXPECT_EQ(run_program({"completion", "zsh"}).status, 2);
}

TEST(CommandLineTest, VerifyOfWhatIsNoStoreEndsWithTwo) {
  const temp_dir dir;
  const auto x = run_program({"verify", dir.at("absent")});
  EXPECT_EQ(x.status, 2);
  EXPECT_TRUE(x.errors.starts_with("weir: cannot verify: ")) << x.errors;
  EXPECT_FALSE(std::filesystem::exists(dir.at("absent")));
}

// Independent of the exit status that a test expects.
TEST(CommandLineTest, AProgramThatABugEndsFailsItsTest) {
  for (const auto* last_words :
       {"==7==ERROR: AddressSanitizer: heap-use-after-free",
        "==7==ERROR: LeakSanitizer: detected memory leaks",
        "a.cpp:7:1: runtime error: shift exponent 64 is too large",
        "vector:7: f(): Assertion 'n < size' failed."})
    EXPECT_NONFATAL_FAILURE(run_program({"config", "check", last_words}),
                            last_words);
}

} // namespace weir::tests
