#include "tests/support/full_pipe.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

// Nobody reads what the node writes: a suspended terminal, a log collector that
// hangs. It ends all the same, and with the status that it would have.
namespace weir::tests {

namespace {

class StalledOutputTest : public testing::Test {
protected:
  std::vector<std::string> arguments() const {
    return {"run",    "--data-dir",        dir.at("data"),
            "--bind", "127.0.0.1:0",       "--log-format",
            "json",   "--operations-bind", "127.0.0.1:0"};
  }

  /// How `weir` ends when its standard error has no room.
  static std::optional<int> end_of(const std::vector<std::string>& arguments) {
    const full_pipe errors;
    program x{arguments, {}, {{STDERR_FILENO, errors.writer()}}};
    const auto out = x.wait(node_patience);
    EXPECT_EQ(errors.read_all(), ""); // There was never room for it.
    return out;
  }

  const temp_dir dir;
};

} // namespace

TEST_F(StalledOutputTest, ARefusedSettingEndsTheProgram) {
  auto refused = arguments();
  refused.insert(refused.end(), {"--partitions", "33", "--readers", "0"});
  EXPECT_EQ(end_of(refused), 2);
}

TEST_F(StalledOutputTest, AnUnknownFlagEndsTheProgram) {
  EXPECT_EQ(end_of({"run", "--partition", "3"}), 2);
}

TEST_F(StalledOutputTest, AStartThatFailsEndsTheProgram) {
  std::ofstream{dir.at("data")} << "a file where the directory should be\n";
  EXPECT_EQ(end_of(arguments()), 2);
}

// Who waits for the line may be slow, for example a script with a pager.
TEST_F(StalledOutputTest, TheReadyLineWaitsForItsReader) {
  const full_pipe output;
  program node{arguments(), {}, {{STDOUT_FILENO, output.writer()}}};
  const auto has_started = [&] {
    return node.errors().find(R"("event":"started")") != std::string::npos;
  };
  ASSERT_TRUE(eventually(node_patience, has_started)) << node.errors();
  std::string line; // It may come as soon as the first bytes are read.
  EXPECT_TRUE(eventually(node_patience, [&] {
    line += output.read_all();
    return line.ends_with('\n');
  }));
  EXPECT_THAT(line, testing::StartsWith(R"({"ready":true)"));
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
}

TEST_F(StalledOutputTest, TheReadyLineDoesNotKeepTheNodeFromItsEnd) {
  const full_pipe output;
  program node{arguments(), {}, {{STDOUT_FILENO, output.writer()}}};
  const auto has_started = [&] {
    return node.errors().find(R"("event":"started")") != std::string::npos;
  };
  ASSERT_TRUE(eventually(node_patience, has_started)) << node.errors();
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
  EXPECT_THAT(node.errors(), testing::HasSubstr(R"("event":"stopped")"));
  EXPECT_EQ(output.read_all(), "");
}

} // namespace weir::tests
