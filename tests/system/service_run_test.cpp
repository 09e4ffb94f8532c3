#include "tests/support/manager_socket.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/patience.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

// A node that a service manager has started (a unit with Type=notify).
namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using testing::MatchesRegex;
using testing::StartsWith;

} // namespace

// Units that are ordered after it may use it at once.
TEST(ServiceRunTest, AManagerHearsOfReadinessReloadAndStop) {
  const temp_dir dir;
  const manager_socket manager{dir.at("notify")};
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0"},
               {"NOTIFY_SOCKET=" + manager.name()}};
  EXPECT_EQ(manager.take(node_patience), "STATUS=opens the store");
  EXPECT_THAT(manager.take(node_patience),
              MatchesRegex("READY=1\nSTATUS=answers at http://127.0.0.1:[0-9]+ "
                           "and http://127.0.0.1:[0-9]+"))
    << node.errors();
  // The ready line was written before.
  EXPECT_THAT(node.read_line(1ms).value_or(""), StartsWith(R"({"ready":true)"));
  node.send(SIGHUP);
  EXPECT_THAT(manager.take(node_patience), StartsWith("RELOADING=1\n"));
  EXPECT_EQ(manager.take(node_patience), "READY=1");
  node.send(SIGTERM);
  EXPECT_EQ(manager.take(node_patience), "STOPPING=1\nSTATUS=stops: a signal");
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
  EXPECT_EQ(manager.take(0ms), "");
}

TEST(ServiceRunTest, ANodeThatCannotStartIsNeverReady) {
  const temp_dir dir;
  std::ofstream{dir.at("data")} << "a file where the directory should be\n";
  const manager_socket manager{dir.at("notify")};
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0"},
               {"NOTIFY_SOCKET=" + manager.name()}};
  EXPECT_EQ(node.wait(node_patience), 2) << node.errors();
  EXPECT_EQ(manager.take(node_patience), "STATUS=opens the store");
  EXPECT_THAT(manager.take(node_patience),
              StartsWith("STOPPING=1\nSTATUS=cannot start: "));
  EXPECT_EQ(manager.take(0ms), "");
}

TEST(ServiceRunTest, AManagerThatIsNotThereStopsNobody) {
  const temp_dir dir;
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--log-format", "json"},
               {"NOTIFY_SOCKET=" + dir.at("absent")}};
  ASSERT_TRUE(node.read_line(node_patience)) << node.errors();
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
  EXPECT_NE(
    node.errors().find(R"("event":"service_manager_unreachable","message":)"
                       R"("READY=1","reason":"No such file)"),
    std::string::npos)
    << node.errors();
}

} // namespace weir::tests
