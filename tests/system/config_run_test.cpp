#include "apps/weir/web_client.hpp"
#include "tests/support/private_file.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/config_program.hpp"
#include "tests/system/patience.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

namespace weir::tests {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;

/// The line that a program prints when it is ready.
json::object read_ready(program& x) {
  const auto line = x.read_line(node_patience);
  EXPECT_TRUE(line) << x.errors();
  std::error_code bad;
  auto value = json::parse(line.value_or("{}"), bad);
  EXPECT_FALSE(bad) << *line;
  return value.is_object() ? value.get_object() : json::object{};
}

std::string text(const json::object& x, std::string_view key) {
  const auto* found = x.if_contains(key);
  return found == nullptr ? "" : std::string{found->as_string()};
}

class RunTest : public testing::Test {
protected:
  std::vector<std::string> arguments(std::vector<std::string> more = {}) {
    std::vector<std::string> out{"run",    "--data-dir",  dir.at("data"),
                                 "--bind", "127.0.0.1:0", "--log-format",
                                 "json"};
    std::move(more.begin(), more.end(), std::back_inserter(out));
    return out;
  }

  const temp_dir dir;
};

} // namespace

TEST_F(RunTest, TheReadyLineIsOneLineOfJsonWithTheAddresses) {
  program node{arguments()};
  const auto ready = read_ready(node);
  EXPECT_TRUE(ready.at("ready").as_bool());
  EXPECT_FALSE(text(ready, "version").empty());
  const auto web = apps::web_client::make();
  const auto health = web->get(text(ready, "data") + "/health");
  ASSERT_TRUE(health) << health.error().context;
  EXPECT_EQ(as_text(health->body), R"({"status":"ok"})");
  const auto live = web->get(text(ready, "operations") + "/livez");
  ASSERT_TRUE(live) << live.error().context;
  EXPECT_EQ(live->status, 200);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
  EXPECT_FALSE(node.read_line(0s)) << "more than one line";
}

TEST_F(RunTest, EverySignalThatAsksToEndDrainsAndEndsWithZero) {
  for (const int signal : {SIGTERM, SIGINT}) {
    program node{arguments()};
    read_ready(node);
    node.send(signal);
    EXPECT_EQ(node.wait(node_patience), 0) << signal << " " << node.errors();
  }
}

TEST_F(RunTest, LogLinesAreJsonOnStandardError) {
  program node{arguments()};
  read_ready(node);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
  std::istringstream lines{node.errors()};
  size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    std::error_code bad;
    json::parse(line, bad);
    EXPECT_FALSE(bad) << line;
  }
  EXPECT_GT(count, 0u) << "no upstream is worth a warning";
}

// hostile-inputs.md 2.2.3, with the real program.
TEST_F(RunTest, BindingBeyondLoopbackWithoutAPasswordIsRefused) {
  for (const auto* at : {"0.0.0.0:0", "[::]:0"}) {
    const auto x
      = run_program({"run", "--data-dir", dir.at("refused"), "--bind", at});
    EXPECT_EQ(x.status, 2);
    EXPECT_TRUE(x.errors.find("password") != std::string::npos) << x.errors;
    EXPECT_EQ(x.output, "");
    EXPECT_FALSE(std::filesystem::exists(dir.at("refused")));
  }
}

// A password that others may read protects nothing.
TEST_F(RunTest, APasswordFileThatOthersMayReadIsRefused) {
  write_private(dir.at("password"), "correct horse battery\n");
  using std::filesystem::perms;
  for (const auto more : {perms::others_read, perms::others_write,
                          perms::group_write, perms::others_all}) {
    std::filesystem::permissions(dir.at("password"),
                                 perms::owner_read | perms::owner_write | more);
    const auto x = run_program({"run", "--data-dir", dir.at("refused"),
                                "--bind", "127.0.0.1:0",
                                "--admin-password-file", dir.at("password")});
    EXPECT_EQ(x.status, 2);
    EXPECT_NE(x.errors.find("other users may read or change it; make it yours "
                            "alone with chmod 600"),
              std::string::npos)
      << x.errors;
    EXPECT_FALSE(std::filesystem::exists(dir.at("refused")));
  }
}

TEST_F(RunTest, WithAPasswordItMayBindAnywhere) {
  write_private(dir.at("password"), "correct horse battery\n");
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "0.0.0.0:0",
                "--admin-password-file", dir.at("password")}};
  EXPECT_TRUE(read_ready(node).at("ready").as_bool());
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
}

TEST_F(RunTest, ASecondNodeOnTheSameDirectoryIsRefused) {
  program node{arguments()};
  read_ready(node);
  const auto second = run_program(arguments());
  EXPECT_EQ(second.status, 2);
  EXPECT_TRUE(second.errors.find("cannot start") != std::string::npos)
    << second.errors;
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
}

TEST_F(RunTest, APortThatIsTakenIsNamed) {
  program node{arguments()};
  const auto taken = text(read_ready(node), "data").substr(7);
  const auto second
    = run_program({"run", "--data-dir", dir.at("other"), "--bind", taken});
  EXPECT_EQ(second.status, 2);
  EXPECT_TRUE(second.errors.find(taken) != std::string::npos) << second.errors;
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
}

TEST_F(RunTest, AStoreThatANodeLeftBehindIsGood) {
  {
    program node{arguments()};
    read_ready(node);
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0);
  }
  const auto x = run_program({"verify", dir.at("data"), "--json"});
  EXPECT_EQ(x.status, 0) << x.output;
  EXPECT_TRUE(json::parse(x.output).as_object().at("good").as_bool());
}

// The first command of a new user, with hosts that the node does not know.
TEST_F(RunTest, ANodeFollowsHostsItHasNeverSeen) {
  program net{{"simnet", "--accounts", "20", "--records", "400", "--hosts", "2",
               "--seed", "7"}};
  const auto world = read_ready(net);
  EXPECT_EQ(world.at("accounts").as_int64(), 20);
  const auto& hosts = world.at("pds").as_array();
  ASSERT_EQ(hosts.size(), 2u);
  std::vector<std::string> more{"--mode",
                                "full-network",
                                "--plc-url",
                                text(world, "plc"),
                                "--handle-resolver-url",
                                text(world, "handle_resolver"),
                                "--plc-per-second",
                                "1000",
                                "--allow-private-addresses"};
  for (const auto& host : hosts) {
    more.emplace_back("--upstream");
    more.push_back("pds:" + std::string{host.as_string()});
  }
  program node{arguments(more)};
  const auto ready = read_ready(node);
  const auto web = apps::web_client::make();
  const auto until = std::chrono::steady_clock::now() + node_patience;
  int64_t synced = 0;
  while (synced < 20 && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(50ms); // No signal tells when a status changes.
    const auto status = web->get(text(ready, "operations") + "/status");
    ASSERT_TRUE(status) << status.error().context;
    synced = json::parse(as_text(status->body))
               .at("repos")
               .at("synced")
               .to_number<int64_t>();
  }
  EXPECT_EQ(synced, 20);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << node.errors();
  for (const auto& host : hosts) {
    const auto x = run_program(
      {"verify", dir.at("data"), "--against", std::string{host.as_string()}});
    EXPECT_EQ(x.status, 0) << x.output << x.errors;
  }
  net.send(SIGTERM);
  EXPECT_EQ(net.wait(node_patience), 0);
}

} // namespace weir::tests
