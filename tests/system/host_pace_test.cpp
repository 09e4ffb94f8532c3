#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "atproto/dag_cbor.hpp"
#include "base/clock.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <future>
#include <list>
#include <optional>

// Hosts without events, so that only their listings show their repos' state,
// and a host that has more events than its rate allows.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr const char* list_repos = "/xrpc/com.atproto.sync.listRepos";

/// Number of repos that are fetched because a listing named another rev.
constexpr const char* listed_anew
  = R"(weir_repo_events_total{result="listing_mismatch"})";

class SilentHostTest : public testing::Test {
protected:
  static constexpr size_t accounts = 20;

  SilentHostTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    for (size_t i = 0; i < accounts; ++i) {
      repos.emplace_back(i + 1).put("app.test.note/a", make_record("one"));
      repos.back().commit();
    }
    publish();
  }

  /// Serves and lists the present repos from now on.
  void publish() {
    std::string lines;
    for (const auto& x : repos) {
      host.publish_and_serve(x);
      lines += (lines.empty() ? R"({"did":")" : R"(,{"did":")") + x.did().str()
               + R"(","head":")" + x.data().to_text() + R"(","rev":")"
               + x.rev().str() + R"(","active":true})";
    }
    host.on(list_repos, say(http_answer(200, R"({"repos":[)" + lines + "]}")));
  }

  /// Adds one commit to each repo without an event.
  void change_all() {
    for (auto& x : repos) {
      x.put("app.test.note/b", make_record("two"));
      x.commit();
    }
    publish();
  }

  /// Waits until the node has the present state of all repos.
  bool has_all(hostile_node& node) {
    return eventually(node_patience, [&] {
      return std::all_of(repos.begin(), repos.end(), [&](const auto& x) {
        const auto has = node.repo(x.did());
        return has.status == "synced" && has.rev == x.rev().str();
      });
    });
  }

  /// The number of downloads of the repos so far.
  size_t downloads() const {
    size_t out = 0;
    for (const auto& x : repos)
      out += host.asked("/xrpc/com.atproto.sync.getRepo?did=" + x.did().str());
    return out;
  }

  std::list<live_repo> repos;
  hostile_stream stream;
  hostile_host host;
};

} // namespace

// CONS-24: a stream that never brought an event has no position to resume from.
// protocol-coverage.md 9.3
TEST_F(SilentHostTest, WhatChangedDuringARestartIsFoundWithoutAnEvent) {
  hostile_node node{{"relay:" + host.url()}, host.url()};
  ASSERT_TRUE(has_all(node));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 1));
  node.restart([this] { change_all(); });
  EXPECT_TRUE(has_all(node));
  EXPECT_EQ(node.metric("weir_upstream_cursor"), 0u) << "it was silent";
  EXPECT_GT(node.metric(listed_anew), 0u);
}

// completeness.md, The terms: a listing comes soon after each start, also for a
// stream that resumes. By its interval alone the next one would come in an
// hour.
TEST_F(SilentHostTest, WhatNobodyAnnouncesDuringARestartIsFound) {
  hostile_node node{
    {"relay:" + host.url()}, host.url(), {"--listing-requests-per-hour", "1"}};
  ASSERT_TRUE(has_all(node));
  ASSERT_TRUE(stream.send(repos.front().sync_frame(7)));
  ASSERT_TRUE(node.await_metric("weir_upstream_cursor", 7));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 1));
  node.restart([this] { change_all(); });
  EXPECT_TRUE(has_all(node));
  EXPECT_EQ(node.metric("weir_upstream_cursor"), 7u);
}

// hostile-inputs.md 2.1.29: listings come as often as the requests an hour
// allow
TEST_F(SilentHostTest, WhatNobodyAnnouncesIsFoundByTheNextListing) {
  hostile_node node{{"relay:" + host.url()},
                    host.url(),
                    {"--listing-requests-per-hour", "3600"}};
  ASSERT_TRUE(has_all(node));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 1));
  change_all();
  EXPECT_TRUE(has_all(node));
}

// protocol-coverage.md 9.3: the same without a restart. The stream was cut, and
// still has no events.
TEST_F(SilentHostTest, WhatChangedWhileItWasCutIsFoundWithoutAnEvent) {
  hostile_node node{
    {"relay:" + host.url()}, host.url(), {"--listing-requests-per-hour", "1"}};
  ASSERT_TRUE(has_all(node));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 1));
  change_all();
  ASSERT_TRUE(stream.send(net::ws_opcode::close, {}));
  EXPECT_TRUE(has_all(node));
  EXPECT_EQ(node.metric("weir_upstream_cursor"), 0u) << "it was silent";
  EXPECT_GT(node.metric(listed_anew), 0u);
}

// protocol-coverage.md 9.3: what is listed does not count as missing while the
// stream is behind, whatever time a single unsigned frame states.
TEST_F(SilentHostTest, NothingIsMissingWhileItsStreamIsLate) {
  constexpr size_t per_second = 6;
  // Enough frames to make those after them late.
  constexpr size_t before = per_second * (limits::frame_delay_max / 1s + 3);
  hostile_node node{{"pds:" + host.url()},
                    host.url(),
                    {"--mode", "manual", "--pds-events-per-second",
                     std::to_string(per_second), "--listing-interval", "2s",
                     "--listing-requests-per-hour", "3600"}};
  // A fetch before its stream has a position must be repeated, because this
  // host does not list the revs of its repos.
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", 1));
  for (const auto& x : repos)
    node.add({x.did()});
  ASSERT_TRUE(has_all(node));
  int64_t seq = 0;
  const auto next = [](live_repo& x) {
    x.put("app.test.note/b", make_record("two"));
    return x.draft();
  };
  const auto send = [&](commit_draft x, const live_repo& from) {
    x.seq = ++seq;
    return stream.send(x.encode(x.sign(from.key())));
  };
  live_repo stranger{accounts + 1};
  auto liar = next(stranger);
  liar.object.rev = atproto::tid::from_time(system_clock().wall_now() + 24h, 1);
  ASSERT_TRUE(send(liar, stranger));
  for (size_t i = 0; i < before; ++i)
    ASSERT_TRUE(send(next(stranger), stranger));
  for (auto& x : repos)
    ASSERT_TRUE(send(next(x), x));
  publish();
  const auto listings = node.metric("weir_listing_finished_total");
  EXPECT_TRUE(has_all(node));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", listings + 1));
  EXPECT_EQ(node.metric(listed_anew), 0u);
  EXPECT_EQ(host.asked("/xrpc/com.atproto.sync.getRepo?"), accounts)
    << node.log();
}

// protocol-coverage.md 9.3; hostile-inputs.md 2.1.32: a stream is held back
// after a refused frame. What it did not bring during that time is not missing.
TEST_F(SilentHostTest, NothingIsMissingWhileItsStreamIsHeldBack) {
  live_repo forger{accounts + 1};
  forger.put("app.test.note/a", make_record("one"));
  forger.commit();
  host.publish_and_serve(forger);
  // One refused frame costs five seconds: longer than the shortest silence that
  // counts, and too short for later frames to be late.
  static_assert(limits::passed_quiet_min < 5s && 5s < limits::frame_delay_max);
  hostile_node node{{"pds:" + host.url()},
                    host.url(),
                    {"--mode", "manual", "--listing-requests-per-hour", "3600",
                     "--pds-events-per-second",
                     std::to_string(limits::refused_frame_cost / 5)}};
  node.add({forger.did()});
  for (const auto& x : repos)
    node.add({x.did()});
  ASSERT_TRUE(has_all(node));
  node.await(forger.did(), "synced");
  const auto fetches = downloads();
  forger.put("app.test.note/b", make_record("two"));
  auto forged = forger.draft();
  forged.seq = 1;
  ASSERT_TRUE(
    stream.send(forged.encode(forged.sign(repos.front().key()))));
  ASSERT_TRUE(node.await_metric(
    R"(weir_repo_events_total{result="bad_signature"})", 1));
  int64_t seq = 1;
  for (auto& x : repos) {
    x.put("app.test.note/b", make_record("two"));
    auto commit = x.draft();
    commit.seq = ++seq;
    ASSERT_TRUE(stream.send(commit.encode(commit.sign(x.key()))));
  }
  publish();
  const auto listed = node.metric("weir_listing_finished_total");
  EXPECT_TRUE(has_all(node));
  ASSERT_TRUE(node.await_metric("weir_listing_finished_total", listed + 1));
  EXPECT_EQ(node.metric(listed_anew), 0u);
  EXPECT_EQ(downloads(), fetches);
}

// actors.md, What a stream may deliver: a socket without a reason to wait is
// read. A PDS has a backlog of four windows, at the usual rate.
TEST(ThrottledHostTest, ABacklogOfManyWindowsComesToItsEnd) {
  constexpr int64_t most = 1'200;
  hostile_stream stream;
  hostile_host host;
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  std::optional<hostile_node> node;
  node.emplace(std::vector{"pds:" + host.url()}, host.url());
  auto sent = std::async(std::launch::async, [&] {
    for (int64_t seq = 1; seq <= most; ++seq) {
      atproto::cbor::writer frame;
      frame.begin_map(2).put_text("t").put_text("#strange");
      frame.put_text("op").put_int(1);
      frame.begin_map(2).put_text("pad").put_bytes(bytes(65'536));
      frame.put_text("seq").put_int(seq);
      if (!stream.send(frame.take()))
        return false;
    }
    return true;
  });
  EXPECT_TRUE(node->await_metric("weir_upstream_cursor", most));
  EXPECT_EQ(node->metric("weir_upstream_dials_total"), 1u);
  // Otherwise the host would wait for ever to send what it does not read.
  node.reset();
  EXPECT_TRUE(sent.get());
}

} // namespace weir::tests
