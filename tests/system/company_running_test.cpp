#include "tests/support/temp_dir.hpp"
#include "tests/system/default_node.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>
#include <vector>

// Honest accounts that appear when a node has followed hostile hosts for a
// while. In company_test.cpp they exist when it starts.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using simnet::hostility;
using std::chrono::steady_clock;

constexpr size_t first_accounts = 10;
constexpr size_t new_accounts = 60;
constexpr size_t good_hosts = 2;

/// As in company_test.cpp.
constexpr int running_attempts = 4;

/// One host of each kind except `fickle`, which IdentityFloodTest covers, and
/// what it must have done before the honest accounts appear.
struct companion {
  simnet::hostile_host_options host;
  uint64_t downloads = 0;
  uint64_t claims = 0;
  uint64_t pages = 0;
  uint64_t frames = 0;
};

using party = std::vector<companion>;

const party all_kinds{{{hostility::slow, 40}, 1, 0, 0, 0},
                        {{hostility::inventive, 1}, 0, 10'000, 0, 0},
                        {{hostility::wide, 100}, 100, 0, 0, 0},
                        {{hostility::endless, 20}, 1, 0, 0, 500},
                        {{hostility::fictive, 1}, 0, 1'000, 0, 1'000},
                        {{hostility::circular, 20}, 0, 0, 2, 0}};

/// Their look-ups alone take 23 seconds of the budget.
const party crowds{{{hostility::slow, 200}, 0, 0, 0, 0},
                     {{hostility::wide, 260}, 0, 0, 0, 0}};

simnet::network_options network_of(const party& companions) {
  simnet::network_options out;
  out.population.accounts = first_accounts;
  out.population.records = first_accounts * 20;
  out.population.hosts = good_hosts;
  for (const auto& x : companions)
    out.hostile.push_back(x.host);
  out.relay = false;
  return out;
}

class RunningCompanyTest : public testing::Test {
protected:
  explicit RunningCompanyTest(party x = all_kinds)
    : companions(std::move(x)), network(network_of(companions)),
      honest(first_accounts) {
    std::iota(honest.begin(), honest.end(), 0);
    urls = network.start(2).value();
    followed.resize(network.hostile().first() + network.hostile().size());
    std::iota(followed.begin(), followed.end(), 0);
  }

  /// The time until all honest repos are synced.
  std::chrono::milliseconds await_honest(default_node& node) {
    const auto start = steady_clock::now();
    size_t there = 0;
    while (there < honest.size() && steady_clock::now() - start < node_patience)
      there = node.synced(network.truth(), honest);
    EXPECT_EQ(there, honest.size()) << tail_of(node.process().errors());
    return std::chrono::duration_cast<std::chrono::milliseconds>(
      steady_clock::now() - start);
  }

  /// New accounts appear, and their hosts send events about them.
  std::chrono::milliseconds sync_newcomers(default_node& node) {
    for (size_t i = 0; i < new_accounts; ++i)
      honest.push_back(network.truth().add_account());
    return await_honest(node);
  }

  std::chrono::milliseconds sync_alone(const std::string& data) {
    default_node node{data, urls, {0, 1}, look_ups_as_before};
    await_honest(node);
    const auto out = sync_newcomers(node);
    node.stop();
    return out;
  }

  std::chrono::milliseconds sync_beside(const std::string& data) {
    default_node node{data, urls, followed, look_ups_as_before};
    await_honest(node);
    await_harm(node);
    const auto out = sync_newcomers(node);
    node.stop();
    return out;
  }

  /// Waits until the hostile hosts' real accounts are tracked. What they use
  /// then is what such a host can use permanently.
  virtual void await_harm(default_node& node) {
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node.metric("weir_repos_tracked") >= network.truth().accounts()
             && is_harmed();
    })) << "what is tested was not reached";
  }

  bool is_harmed() const {
    auto out = true;
    for (size_t i = 0; i < companions.size(); ++i) {
      const auto& did = network.hostile().of(good_hosts + i);
      const auto& x = companions[i];
      out = out && did.downloads >= x.downloads && did.claims >= x.claims
            && did.pages >= x.pages && did.frames >= x.frames;
    }
    return out;
  }

  void expect_twice_at_most() {
    auto is_in_time = false;
    for (int i = 0; i < running_attempts && !is_in_time && !HasFailure(); ++i) {
      const auto number = std::to_string(i);
      const auto alone = sync_alone(dir.at("alone" + number));
      const auto longer = sync_beside(dir.at("data" + number));
      is_in_time = longer <= 2 * alone;
      std::cout << alone.count() << " ms alone, " << longer.count()
                << " ms beside them\n";
    }
    EXPECT_TRUE(is_in_time);
  }

  temp_dir dir;
  party companions;
  simnet::network network;
  simnet::network_urls urls;
  std::vector<size_t> honest;
  std::vector<size_t> followed;
};

class CrowdedCompanyTest : public RunningCompanyTest {
protected:
  CrowdedCompanyTest() : RunningCompanyTest(crowds) {
    // nop
  }

  void await_harm(default_node& node) override {
    EXPECT_LT(node.metric("weir_repos_tracked"), network.truth().accounts());
  }
};

} // namespace

TEST_F(RunningCompanyTest, WhoComesLaterIsSyncedInTwiceTheTimeAlone) {
  expect_twice_at_most();
}

// The first accounts of hostile hosts are still being looked up.
TEST_F(CrowdedCompanyTest, WhoComesBesideThemIsSyncedInTwiceTheTimeAlone) {
  expect_twice_at_most();
}

} // namespace weir::tests
