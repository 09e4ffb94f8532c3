#include "actors/support/limits_health.hpp"
#include "atproto/frame.hpp"
#include "simnet/network.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/watched_node.hpp"

// architecture.md, Health
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

/// Makes a host list no accounts.
void list_nobody(hostile_host& x) {
  x.on("/xrpc/com.atproto.sync.listRepos",
       say(http_answer(200, R"({"repos":[]})")));
}

class HealthToldTest : public WatchedNodeTest {
protected:
  void happen(simnet::fault_kind kind) {
    simnet::fault x;
    x.kind = kind;
    x.count = 0; // Lasts until it is ended.
    ASSERT_TRUE(net.life().faults().inject(x));
  }
};

} // namespace

TEST_F(HealthToldTest, ADirectoryThatIsAwayIsNamedOnceAndItsReturnAsWell) {
  happen(simnet::fault_kind::directory_down);
  start();
  ASSERT_TRUE(await_cause("directory", net.urls().plc, "HTTP 503"));
  EXPECT_EQ(metric("weir_health_causes", "cause=\"directory\""), 1u);
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  happen(simnet::fault_kind::directory_up);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(metric("weir_health_causes"), 0u);
  EXPECT_EQ(causes_of("/status"), "[]");
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
  EXPECT_EQ(warnings("healthy_again", "directory"), 1u);
}

// The server at this URL answers but is not a directory: it knows none of our
// DIDs
TEST_F(HealthToldTest, AServiceThatIsNoDirectoryIsNamed) {
  config.plc_url = net.urls().relay;
  start();
  ASSERT_TRUE(await_cause("directory", net.urls().relay, ""));
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
}

// One repo suffices for a user who tries a new configuration
TEST_F(HealthToldTest, ADirectoryThatNeverAnsweredIsNamedByOneRepo) {
  config.retry_backoff_min = config.retry_backoff_max = 1h;
  config.mode = actors::tracking_mode::manual;
  happen(simnet::fault_kind::directory_down);
  start();
  add(1);
  ASSERT_TRUE(await_cause("directory", net.urls().plc, "HTTP 503", "degraded"));
  happen(simnet::fault_kind::directory_up);
  time.pass(limits::health_probe_interval);
  ASSERT_TRUE(await_ready()) << "it is asked, whoever waits";
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
  EXPECT_EQ(warnings("healthy_again", "directory"), 1u);
}

TEST_F(HealthToldTest, SoIsAServiceThatIsNoDirectory) {
  config.plc_url = net.urls().relay;
  config.mode = actors::tracking_mode::manual;
  start();
  add(1);
  ASSERT_TRUE(await_cause("directory", net.urls().relay,
                          "in words that no directory uses", "degraded"));
}

TEST_F(HealthToldTest, AResolverThatDoesNotAnswerIsNamedUntilItDoes) {
  hostile_host gate;
  const std::string path = "/xrpc/com.atproto.identity.resolveHandle";
  gate.on(path, say(http_answer(500, "no")));
  config.handle_resolver_url = gate.url();
  config.mode = actors::tracking_mode::manual;
  start();
  add(1);
  ASSERT_TRUE(await_cause("resolver", gate.url(), "HTTP 500", "degraded"));
  EXPECT_EQ(metric("weir_health_causes", "cause=\"resolver\""), 1u);
  EXPECT_GE(metric("weir_identity_handle_failures_total"), 1u);
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  gate.on(path, say(http_answer(400, R"({"error":"InvalidRequest"})")));
  add(2);
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "resolver"), 1u);
  EXPECT_EQ(warnings("healthy_again", "resolver"), 1u);
}

TEST_F(HealthToldTest, AnUpstreamThatRefusesIsNamedUntilItDoesNot) {
  hostile_stream stream;
  hostile_host gate;
  const std::string path = "/xrpc/com.atproto.sync.subscribeRepos";
  gate.on(path, say(http_answer(403, "not you")));
  list_nobody(gate);
  config.upstreams.push_back({gate.url(), true});
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(), "403", "degraded"))
    << "the other one is well";
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  gate.on(path, stream.script());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 1u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 1u);
}

TEST_F(HealthToldTest, WithoutMostOfItsUpstreamsANodeIsNotReady) {
  hostile_stream streams[2];
  hostile_host gates[2];
  const std::string path = "/xrpc/com.atproto.sync.subscribeRepos";
  for (auto& gate : gates) {
    gate.on(path, say(http_answer(403, "not you")));
    list_nobody(gate);
    config.upstreams.push_back({gate.url(), false});
  }
  start();
  for (auto& gate : gates)
    ASSERT_TRUE(await_cause("upstream", gate.url(), "403"));
  EXPECT_NE(readiness().find("\"upstream: " + gates[0].url()
                             + " is not connected\""),
            std::string::npos)
    << readiness();
  gates[0].on(path, streams[0].script());
  ASSERT_TRUE(await_cause("upstream", gates[1].url(), "403", "degraded"));
  gates[1].on(path, streams[1].script());
  ASSERT_TRUE(await_ready());
}

// The only relay carries the accounts of hosts without a stream of their own
TEST_F(HealthToldTest, WithoutItsRelayANodeIsNotReady) {
  hostile_stream streams[2];
  hostile_host hosts[2];
  hostile_host gate;
  const std::string path = "/xrpc/com.atproto.sync.subscribeRepos";
  gate.on(path, say(http_answer(403, "not you")));
  config.upstreams = {{gate.url(), true}};
  for (size_t i = 0; i < 2; ++i) {
    hosts[i].on(path, streams[i].script());
    config.upstreams.push_back({hosts[i].url(), false});
  }
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(), "403"));
}

// limits::health_probe_interval: all repos wait, so only the probe asks
TEST_F(HealthToldTest, AfterAnOutageAQuietNodeIsReadyInMinutes) {
  config.retry_backoff_min = config.retry_backoff_max = 1h;
  config.mode = actors::tracking_mode::manual;
  happen(simnet::fault_kind::directory_down);
  start();
  add(accounts);
  ASSERT_TRUE(await_cause("directory", net.urls().plc, "HTTP 503"));
  happen(simnet::fault_kind::directory_up);
  constexpr auto rounds
    = 2 * limits::health_memory / limits::health_probe_interval;
  for (int i = 0; i < rounds && causes_of("/readyz") != "[]"; ++i) {
    const auto asked = metric("weir_identity_lookups_total");
    time.pass(limits::health_probe_interval);
    ASSERT_TRUE(eventually(node_patience, [&] {
      return metric("weir_identity_lookups_total") > asked
             || causes_of("/readyz") == "[]";
    }));
  }
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "directory"), 1u);
  EXPECT_EQ(warnings("healthy_again", "directory"), 1u);
}

// limits::health_memory: the node neither becomes ready without proof nor stays
// unready for ever
TEST_F(HealthToldTest, WhatIsNotTriedAnyMoreIsNamedAsThat) {
  config.retry_backoff_min = config.retry_backoff_max = 1h;
  config.mode = actors::tracking_mode::manual;
  simnet::request_faults::order order;
  order.what = simnet::fault_kind::failing_repo;
  order.count = 1'000'000;
  net.life().requests().add(order);
  start();
  // As few as count as a finding: more would be tried again when their host has
  // rested.
  add(limits::health_failures_min);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return metric("weir_backfill_finished_total", "result=\"failed\"")
           == limits::health_failures_min;
  })) << metric("weir_backfill_finished_total", "result=\"failed\"");
  ASSERT_TRUE(eventually(node_patience, [this] {
    return readiness().find(R"("level":"failing")") != std::string::npos;
  }));
  time.pass(limits::health_memory + 1s);
  ASSERT_TRUE(eventually(node_patience,
                         [this] {
                           return readiness().starts_with("200");
                         }))
    << readiness();
  EXPECT_NE(readiness().find(R"("level":"unproved")"), std::string::npos);
  EXPECT_EQ(warnings("healthy_again", "fetch"), 0u) << "nobody saw that";
  time.pass(limits::health_memory_failing);
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("healthy_again", "fetch"), 1u);
}

// architecture.md, Health: the stream is connected, but most of its commits are
// refused
TEST_F(HealthToldTest, AnUpstreamWhoseCommitsAreRefusedIsNamed) {
  start();
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  for (size_t i = 0; i < accounts; ++i) {
    simnet::fault x;
    x.kind = simnet::fault_kind::bad_signature;
    x.did = net.life().truth().view(i).id.str();
    ASSERT_TRUE(net.life().faults().inject(x));
  }
  ASSERT_TRUE(await_cause("upstream", net.urls().relay,
                          "most of its commits are refused"));
  for (size_t i = 0; i < accounts; ++i)
    net.life().traffic().post(i);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 1u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 1u);
}

TEST_F(HealthToldTest, HostsThatServeNothingAreNamed) {
  simnet::request_faults::order order;
  order.what = simnet::fault_kind::failing_repo;
  order.count = 1'000'000;
  net.life().requests().add(order);
  start();
  ASSERT_TRUE(eventually(node_patience, [this] {
    return readiness().find(R"("cause":"fetch")") != std::string::npos;
  })) << readiness();
  net.life().requests().clear(order.what, order.what);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "fetch"), 1u);
  EXPECT_EQ(warnings("healthy_again", "fetch"), 1u);
}

// protocol-coverage.md 1.12: until a listing is compared, the node cannot know
// which repos are stale
TEST_F(HealthToldTest, AListingThatIsOwedAfterALossAndFailsIsNamed) {
  hostile_stream stream;
  hostile_host gate;
  const std::string listing = "/xrpc/com.atproto.sync.listRepos";
  int64_t seq = 0;
  const auto lose = [&] { // Also sends the first event that is left.
    atproto::identity_event next;
    next.seq = ++seq;
    next.repo = net.life().truth().view(0).id;
    const auto made = frame_time_of_now();
    next.time = made;
    return stream.send(atproto::encode_frame(
             atproto::info_event{"OutdatedCursor", {}}))
           && stream.send(atproto::encode_frame(next));
  };
  gate.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  gate.on(listing, say(http_answer(500, "no")));
  config.upstreams.push_back({gate.url(), false});
  start();
  ASSERT_TRUE(await_cause(
    "upstream", gate.url(),
    "its listing after the start fails: unreachable: HTTP 500", "degraded"));
  gate.on(listing, say(http_answer(200, R"({"repos":[]})")));
  ASSERT_TRUE(await_ready());
  gate.on(listing, say(http_answer(500, "no")));
  ASSERT_TRUE(lose());
  ASSERT_TRUE(await_cause("upstream", gate.url(),
                          "after a loss fails: unreachable: HTTP 500",
                          "degraded"));
  gate.on(listing, say(http_answer(200, R"({"repos":[]})")));
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 2u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 2u);
  gate.on(listing, say(http_answer(501, "no")));
  ASSERT_TRUE(lose());
  ASSERT_TRUE(await_cause("upstream", gate.url(),
                          "what was lost cannot be found", "degraded"));
}

// SYNC-18: quiet repos of that host may be missing
TEST_F(HealthToldTest, AHostThatDoesNotSayWhoHasRecordsIsNamed) {
  hostile_stream stream;
  hostile_host gate;
  hostile_host directory;
  const std::string describe = "/xrpc/com.atproto.repo.describeRepo";
  const live_repo account{1};
  const auto did = account.did().str();
  directory.publish(account, gate.url());
  config.plc_url = directory.url();
  gate.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  gate.on("/xrpc/com.atproto.sync.listRepos",
          say(http_answer(200, R"({"repos":[{"did":")" + did
                                 + R"(","rev":"3jzfcijpj2z2a"}]})")));
  gate.on(describe, say(http_answer(400, "no")));
  config.mode = actors::tracking_mode::signal;
  config.signal_collections = {"app.test.none"};
  config.listing_interval = config.listing_pause = 1s;
  config.listing_requests_per_hour = 100'000;
  config.upstreams.push_back({gate.url(), false});
  start();
  ASSERT_TRUE(await_cause("upstream", gate.url(),
                          "not known of some accounts there", "degraded"));
  EXPECT_EQ(causes_of("/status"), causes_of("/readyz"));
  gate.on(describe, say(http_answer(200, R"({"did":")" + did
                                           + R"(","collections":[]})")));
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(warnings("unhealthy", "upstream"), 1u);
  EXPECT_EQ(warnings("healthy_again", "upstream"), 1u);
}

// protocol-coverage.md 2.1.2: a host under another name counts as another host
TEST_F(HealthToldTest, AnUpstreamByANameThatNoDocumentHasIsNamed) {
  auto url = net.urls().hosts[0];
  const std::string address = "127.0.0.1";
  url.replace(url.find(address), address.size(), "localhost");
  config.upstreams = {{url, false}};
  config.mode = actors::tracking_mode::manual;
  start();
  add(accounts);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_cause("upstream", url, " names " + net.urls().hosts[0]));
}

} // namespace weir::tests
