#include "tests/system/complete_network.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <algorithm>

// Which copies are complete: a running node reports it for every active repo
// once the network is quiet, without help, and gives the reason before (CONS-10
// to CONS-13).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;
using whole_fault = simnet::fault_kind;
using whole_by = complete_network::by;

constexpr uint64_t whole_count = 12;

} // namespace

// CONS-06, CONS-07, CONS-10, CONS-11, CONS-12, CONS-24, CONS-25: nothing
// happens but the first sync
TEST(CompletenessTest, AQuietNetworkIsWholeAfterItsFirstSync) {
  complete_network net{101};
  net.await_whole();
  net.await_counted(whole_count);
}

TEST(CompletenessTest, SoAreQuietHostsWithoutARelay) {
  complete_network net{102, {}, whole_by::hosts, false};
  net.await_whole();
  net.await_counted(whole_count);
}

// SYNC-17: repos that are added by hand
TEST(CompletenessTest, SoAreReposThatWereAddedByHand) {
  complete_network net{103, {"--mode", "manual"}};
  std::vector<atproto::did> all;
  for (size_t i = 0; i < whole_count; ++i)
    all.push_back(net.did_of(i));
  net.node().add(all);
  net.await_whole();
  net.await_counted(whole_count);
}

// SYNC-18
TEST(CompletenessTest, SoAreReposThatASignalFound) {
  complete_network net{104,
                       {"--mode", "signal", "--signal-collection",
                        "app.bsky.feed.post"}};
  EXPECT_TRUE(eventually(node_patience, [&] {
    const auto x = net.summary();
    return x.contains("active") && x.at("active").as_int64() > 0
           && x.at("active") == x.at("complete");
  })) << boost::json::serialize(net.summary());
}

// CONS-05, SYNC-09: positions and revs are on disk
TEST(CompletenessTest, ItStaysWholeOverARestart) {
  complete_network net{105};
  ASSERT_TRUE(net.await_lively());
  net.node().restart([] {});
  net.await_whole();
  net.node().kill([&] { net.life().traffic().make(20); });
  net.await_whole();
  net.await_counted(whole_count);
}

// CONS-13, CONS-15, CONS-29, CONS-30: one listing proves quiet repos
TEST(CompletenessTest, ALostWindowIsMadeUpForWithoutFetches) {
  complete_network net{106};
  ASSERT_TRUE(net.await_lively());
  const auto revs = net.revs();
  const auto proved = [&net](size_t account) {
    return net.told(net.did_of(account))
      .at("proved").at("epoch").to_number<uint64_t>();
  };
  const auto before = proved(0);
  net.node().restart([&] {
    simnet::fault x;
    x.count = 2;
    net.inject(whole_fault::lose_window, x);
  });
  EXPECT_TRUE(net.node().await_metric("weir_upstream_resets_total", 1));
  net.await_whole();
  for (size_t i = 0; i < whole_count; ++i)
    EXPECT_GT(proved(i), before) << "since the loss: " << net.did_of(i).str();
  EXPECT_EQ(net.node().metric("weir_backfill_started_total"),
            net.changed_since(revs));
}

// completeness.md, The terms
TEST(CompletenessTest, SoAreNumbersThatStartAnew) {
  complete_network net{107};
  ASSERT_TRUE(net.await_lively());
  net.inject(whole_fault::restart_sequence);
  net.life().traffic().post(0); // Its seq is below the cursor.
  EXPECT_TRUE(net.node().await_metric("weir_upstream_resets_total", 1));
  net.await_whole();
}

// completeness.md, The terms: the copy was fetched under another filter
TEST(CompletenessTest, AnotherFilterIsNotWholeUntilAllIsFetchedUnderIt) {
  complete_network net{108, {"--collections", "app.bsky.feed.post"}};
  EXPECT_TRUE(net.await_counted(whole_count));
  net.node().restart_with({"--collections", "*"});
  net.await_whole();
  net.await_counted(whole_count);
}

// CONS-29, CONS-30; completeness.md, The terms: the listing leaves it out
TEST(CompletenessTest, ARepoThatTheListingLeavesOutIsProvedByItsHost) {
  complete_network net{110};
  ASSERT_TRUE(net.await_lively());
  for (size_t i = 0; i < whole_count; ++i) {
    simnet::fault x;
    x.did = net.did_of(i).str();
    x.count = 0;
    net.inject(whole_fault::unlisted_repo, x);
  }
  const auto revs = net.revs();
  net.node().restart([&] {
    simnet::fault lost;
    lost.count = 1;
    net.inject(whole_fault::lose_window, lost);
  });
  EXPECT_TRUE(net.node().await_metric("weir_upstream_resets_total", 1));
  net.await_whole();
  EXPECT_EQ(net.node().metric("weir_backfill_started_total"),
            net.changed_since(revs));
}

// CONS-24; ADR 20, 2: when an event is skipped silently while the node runs,
// the next listing by interval finds that
TEST(CompletenessTest, AnAuditFindsWhatWasSkippedOfAQuietRepo) {
  complete_network net{111, {"--listing-interval", "2s"}};
  ASSERT_TRUE(net.await_lively());
  const auto audited = [&] {
    const auto x = net.told(net.did_of(0));
    const auto& at = x.at("upstream").at("last_audited");
    return at.is_null() ? 0 : at.as_int64();
  };
  const auto await_audit = [&] {
    const auto before = audited();
    return eventually(node_patience, [&] { return audited() > before; });
  };
  ASSERT_TRUE(await_audit());
  constexpr auto found = R"(weir_repo_events_total{result="listing_mismatch"})";
  const auto before = net.node().metric(found);
  simnet::fault lost;
  lost.count = 1;
  net.inject(whole_fault::lose_silently, lost);
  net.await_whole();
  EXPECT_EQ(net.node().metric(found), before + 1);
  EXPECT_TRUE(await_audit());
  EXPECT_EQ(net.node().metric("weir_upstream_resets_total"), 0u);
}

// The counts, page by page.
TEST(CompletenessTest, HostsAreCountedPageByPage) {
  complete_network net{112};
  ASSERT_TRUE(net.await_counted(whole_count));
  const auto first = net.summary("?limit=1");
  ASSERT_EQ(first.at("hosts").as_array().size(), 1u);
  EXPECT_TRUE(first.at("oldest_incomplete").is_null());
  EXPECT_GT(first.at("as_of").as_int64(), 0);
  const std::string cursor{first.at("cursor").as_string()};
  EXPECT_EQ(cursor, first.at("hosts").at(0).at("host").as_string());
  const auto second = net.summary("?limit=1&cursor=" + cursor);
  EXPECT_FALSE(second.contains("cursor"));
  uint64_t sum = 0;
  for (const auto& page : {first, second})
    sum += page.at("hosts").at(0).at("active").to_number<uint64_t>();
  EXPECT_EQ(sum, whole_count);
  EXPECT_EQ(net.summary("?limit=0").at("error").as_string(), "InvalidRequest");
  EXPECT_NE(net.node().status().find(R"("completeness":{"as_of":)"),
            std::string::npos);
  EXPECT_EQ(net.node().metric("weir_repos_active"), whole_count);
  EXPECT_EQ(net.node().metric("weir_repos_incomplete "), 0u);
  EXPECT_EQ(net.node().metric("weir_upstream_staleness_seconds"), 0u);
}

TEST(CompletenessTest, ReposWhoseHostIsNotKnownAreCountedApart) {
  complete_network net{113};
  ASSERT_TRUE(net.await_counted(whole_count));
  EXPECT_FALSE(net.summary().contains("unresolved"));
  net.node().add(
    {atproto::did::parse("did:plc:aaaaaaaaaaaaaaaaaaaaaaaa").value()});
  ASSERT_TRUE(eventually(node_patience, [&] {
    return net.summary("?limit=1").contains("unresolved");
  }));
  const auto page = net.summary("?limit=1");
  EXPECT_EQ(page.at("unresolved").at("incomplete").to_number<uint64_t>(), 1u);
  const auto hosts = page.at("hosts").as_array();
  ASSERT_EQ(hosts.size(), 1u);
  EXPECT_EQ(hosts.at(0).at("host").as_string(), page.at("cursor").as_string());
  EXPECT_EQ(page.at("active").to_number<uint64_t>(), whole_count + 1);
}

// What an operator sees of a repo that cannot be fetched and of streams that
// are disconnected.
TEST(CompletenessTest, MetricsNameTheTermThatLacksAndHowFarStreamsAreBehind) {
  complete_network net{114};
  ASSERT_TRUE(net.await_lively());
  auto& node = net.node();
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node.metric("weir_repos_incomplete ") == 0;
  }));
  constexpr auto not_synced
    = R"(weir_repos_incomplete_by_term{term="synced"})";
  EXPECT_EQ(node.metric(not_synced), 0u);
  simnet::fault x;
  x.did = net.did_of(2).str();
  x.count = 0;
  net.inject(whole_fault::failing_repo, x);
  net.inject(whole_fault::broken_chain, x);
  net.life().traffic().post(2);
  EXPECT_TRUE(node.await_metric(not_synced, 1));
  EXPECT_EQ(node.metric("weir_repos_incomplete "), 1u);
  net.life().stop();
  EXPECT_TRUE(node.await_metric("weir_upstream_staleness_seconds", 2));
}

// A stream that is behind makes pauses, here of three seconds or more, and does
// not count as quiet in them.
TEST(CompletenessTest, AStreamThatIsBehindIsNotQuietBetweenItsFrames) {
  complete_network net{115};
  ASSERT_TRUE(net.await_lively());
  simnet::fault slow;
  slow.rate = 400;
  net.inject(whole_fault::throttle_stream, slow);
  net.life().traffic().make(60);
  auto& node = net.node();
  constexpr uint64_t behind = 30; // By then three late frames have come.
  ASSERT_TRUE(node.await_metric("weir_upstream_staleness_seconds", behind));
  auto least = behind;
  const auto frames = node.metric("weir_upstream_frames_total");
  EXPECT_TRUE(eventually(node_patience, [&] {
    least = std::min(least, node.metric("weir_upstream_staleness_seconds"));
    return node.metric("weir_upstream_frames_total") > frames + 3;
  }));
  EXPECT_EQ(least, behind);
}

// The copy of an inactive account is not kept up to date, so it is not counted.
TEST(CompletenessTest, AnAccountThatIsAwayIsNotCounted) {
  complete_network net{113};
  simnet::fault x;
  x.did = net.did_of(5).str();
  net.inject(whole_fault::deactivate, x);
  EXPECT_TRUE(eventually(node_patience, [&] {
    const auto told = net.told(net.did_of(5));
    return told.contains("complete") && told.at("complete").is_null();
  }));
  EXPECT_FALSE(net.row(net.did_of(5)).contains("complete"));
  net.await_counted(whole_count - 1);
}

// CONS-26: the new host's stream proves the copy; the former one's does not
// count any more
TEST(CompletenessTest, AnAccountThatMovedIsWholeAtItsNewHost) {
  complete_network net{109, {}, whole_by::hosts, false};
  ASSERT_TRUE(net.await_lively());
  const auto moved = net.did_of(0);
  const auto host = [](const boost::json::object& x) {
    return x.at("upstream").at("origin").as_string();
  };
  const auto is_current = [](const boost::json::object& x) {
    for (const auto& term : x.at("terms").as_array())
      if (term.at("term").as_string() == "position_current")
        return term.at("holds").as_bool();
    return false;
  };
  const auto before = net.told(moved);
  simnet::fault x;
  x.did = moved.str();
  net.inject(whole_fault::migrate, x);
  boost::json::object after;
  ASSERT_TRUE(eventually(node_patience, [&] {
    after = net.told(moved);
    return host(after) != host(before);
  })) << boost::json::serialize(after);
  EXPECT_EQ(is_current(after), after.at("proved").at("upstream")
                                 == after.at("upstream").at("id"));
  // Signed by the key that it has at the new host.
  net.life().traffic().post(0);
  net.await_whole();
}

} // namespace weir::tests
