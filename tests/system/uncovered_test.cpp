#include "apps/demo/evidence.hpp"
#include "tests/system/hostile_node.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// Repos that no upstream covers: their copy says so, and follows its host
// nevertheless.

namespace weir::tests {

namespace {

/// Two hosts and no relay, and a node that follows the first host only.
class UncoveredTest : public testing::Test {
protected:
  static simnet::network_options options() {
    simnet::network_options out;
    out.population.seed = 29;
    out.population.accounts = 4;
    out.population.records = 40;
    out.population.hosts = 2;
    out.relay = false;
    return out;
  }

  /// The first account of that host.
  size_t account_of(size_t host) {
    size_t i = 0;
    while (network.truth().view(i).host != host)
      ++i;
    return i;
  }

  atproto::did did_of(size_t account) {
    return network.truth().view(account).id;
  }

  void inject(simnet::fault_kind kind, size_t account) {
    simnet::fault x;
    x.kind = kind;
    x.did = did_of(account).str();
    ASSERT_TRUE(network.faults().inject(x)) << to_string(kind);
  }

  /// Waits until the copy equals the host's repo.
  bool await_equal(size_t account) {
    const auto equal = eventually(node_patience, [&] {
      const auto truth = network.truth().view(account);
      const auto copy = node.repo(did_of(account));
      return copy.status == "synced" && copy.rev == truth.rev.str()
             && copy.records == truth.records;
    });
    EXPECT_TRUE(equal) << node.repo(did_of(account)).error
                       << tail_of(node.log());
    return equal;
  }

  /// The node's answer about the repo.
  std::string answer(size_t account) {
    const auto page
      = web->get(node.data_url() + "/repos/" + did_of(account).str());
    return page ? std::string{as_text(page->body)} : std::string{};
  }

  explicit UncoveredTest(const std::string& kind = "pds:") : kind_(kind) {
    // nop
  }

  const std::string kind_;
  simnet::network network{options()};
  const simnet::network_urls urls = network.start(2).value();
  hostile_node node{{kind_ + urls.hosts.at(0)},
                    urls.plc,
                    {"--mode", "manual", "--listing-interval", "2s"}};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
};

/// The node treats that host as a relay, which carries no other host.
class NarrowRelayTest : public UncoveredTest {
protected:
  NarrowRelayTest() : UncoveredTest("relay:") {
    // nop
  }
};

} // namespace

// actors.md, What no upstream covers: a relay need not carry every host. A repo
// that it does not list is not reported as complete, and its host is asked.
TEST_F(NarrowRelayTest, WhatItLeavesOutFollowsItsHostAndSaysSo) {
  const auto left_out = account_of(1);
  const auto carried = account_of(0);
  node.add({did_of(left_out), did_of(carried)});
  ASSERT_TRUE(await_equal(left_out));
  EXPECT_TRUE(eventually(node_patience, [&] {
    return answer(left_out).find(R"("complete":false,"reason":")"
                                 + urls.hosts.at(0) + " does not list it")
           != std::string::npos;
  })) << answer(left_out);
  for (int i = 0; i < 2; ++i) {
    network.traffic().post(left_out);
    ASSERT_TRUE(await_equal(left_out));
  }
  network.traffic().post(carried);
  ASSERT_TRUE(await_equal(carried));
  EXPECT_TRUE(eventually(node_patience, [&] {
    return answer(carried).find(R"("complete":true)") != std::string::npos;
  })) << answer(carried);
}

// SYNC-29; actors.md, What no upstream covers: an account at a host that is not
// followed
TEST_F(UncoveredTest, WhatIsAddedByHandFollowsItsHostAndSaysWhatCoversIt) {
  const auto uncovered = account_of(1);
  const auto covered = account_of(0);
  node.add({did_of(uncovered), did_of(covered)});
  ASSERT_TRUE(await_equal(uncovered));
  ASSERT_TRUE(await_equal(covered));
  for (int i = 0; i < 2; ++i) {
    network.traffic().post(uncovered);
    ASSERT_TRUE(await_equal(uncovered));
  }
  EXPECT_TRUE(node.await_metric("weir_repos_uncovered", 1));
  EXPECT_EQ(node.metric("weir_repos_uncovered"), 1u);
  EXPECT_NE(answer(uncovered).find(R"("complete":false,"reason":)"
                                   R"("no upstream covers its host )"
                                   + urls.hosts.at(1)),
            std::string::npos)
    << answer(uncovered);
  EXPECT_TRUE(eventually(node_patience, [&] {
    return answer(covered).find(R"("complete":true)") != std::string::npos;
  })) << answer(covered);
  EXPECT_TRUE(node.status().find(R"("uncovered":1,)") != std::string::npos)
    << node.status();
}

// actors.md, What no upstream covers: its last event at the old host is the
// last one at all
TEST_F(UncoveredTest, AnAccountThatMovedToAHostNobodyFollowsIsNotLeftBehind) {
  const auto account = account_of(0);
  node.add({did_of(account)});
  ASSERT_TRUE(await_equal(account));
  inject(simnet::fault_kind::migrate, account);
  ASSERT_EQ(network.truth().view(account).host, 1u);
  network.traffic().post(account);
  ASSERT_TRUE(await_equal(account));
  network.traffic().post(account);
  EXPECT_TRUE(await_equal(account));
}

// protocol-coverage.md 4.5: no event tells that an account comes back, either
TEST_F(UncoveredTest, AnAccountThatIsAwayIsAskedAboutUntilItComesBack) {
  const auto account = account_of(1);
  node.add({did_of(account)});
  ASSERT_TRUE(await_equal(account));
  const auto changes = R"(weir_repo_events_total{result="account_changed"})";
  inject(simnet::fault_kind::deactivate, account);
  ASSERT_TRUE(node.await_metric(changes, 1));
  inject(simnet::fault_kind::reactivate, account);
  network.traffic().post(account);
  EXPECT_TRUE(node.await_metric(changes, 2));
  EXPECT_TRUE(await_equal(account));
}

} // namespace weir::tests
