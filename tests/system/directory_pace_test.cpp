#include "actors/identity/limits.hpp"
#include "actors/node/limits.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

// The directory's answers set the pace of a first run (plc_per_second: the
// limits of the directory, 429 and slow answers, are respected).

namespace weir::tests {

namespace {

using simnet::fault_kind;
using namespace std::chrono_literals;

class DirectoryPaceTest : public testing::Test {
protected:
  static constexpr size_t accounts = 300;

  /// The directory does this to `count` requests, to all when it is 0.
  void order(fault_kind kind, std::chrono::milliseconds time, size_t count) {
    simnet::fault x;
    x.kind = kind;
    x.time = time;
    x.count = count;
    ASSERT_TRUE(net.life().faults().inject(x));
  }

  void start() {
    node = std::make_unique<hostile_node>(
      std::vector<std::string>{"relay:" + net.urls().relay}, net.urls().plc,
      std::vector<std::string>{"--mode", "full-network", "--plc-per-second",
                               "500"});
  }

  uint64_t pace() { return node->metric("weir_identity_pace "); }

  uint64_t documents() {
    return net.life().requests().directory().documents;
  }

  bool await_synced() {
    return eventually(node_patience, [this] {
      return node->metric("weir_repos_synced ") == accounts;
    });
  }

  followed_network net{7, accounts, accounts};
  std::unique_ptr<hostile_node> node;
};

} // namespace

TEST_F(DirectoryPaceTest, OneThatLimitsUsIsNotAskedBeforeTheTimeItNames) {
  constexpr auto wait = 5s;
  const auto begin = std::chrono::steady_clock::now();
  order(fault_kind::directory_limit, wait, 1);
  start();
  ASSERT_TRUE(eventually(node_patience, [this] {
    return documents() > 0
           && pace() == static_cast<uint64_t>(limits::plc_pace_start) / 2;
  }));
  // At most this many requests may have been in flight.
  const auto most = documents() + limits::directory_connections_max;
  ASSERT_LT(most, accounts);
  ASSERT_TRUE(eventually(node_patience, [&] { return documents() > most; }));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, wait);
  EXPECT_TRUE(await_synced());
}

TEST_F(DirectoryPaceTest, OneThatIsSlowIsAskedLess) {
  order(fault_kind::directory_slow, limits::plc_prompt + 500ms, 0);
  start();
  EXPECT_EQ(pace(), static_cast<uint64_t>(limits::plc_pace_start));
  EXPECT_TRUE(eventually(node_patience, [this] {
    return pace() <= static_cast<uint64_t>(limits::plc_pace_start) / 2;
  })) << pace();
  order(fault_kind::directory_up, {}, 1);
  EXPECT_TRUE(await_synced());
}

} // namespace weir::tests
