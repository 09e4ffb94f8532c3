#include "actors/repo/limits.hpp"
#include "atproto/dag_cbor.hpp"
#include "tests/support/manual_clock.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/store_left.hpp"

#include <atomic>
#include <future>

// Events that are not applied, and the fetch that must bring their content. No
// listing shows it, and retries wait for an hour.

namespace weir::tests {

namespace {

class DroppedEventTest : public testing::Test {
protected:
  DroppedEventTest() {
    host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    repo.put("app.test.note/a", make_record("one"));
    repo.commit();
    host.publish_and_serve(repo);
  }

  /// Starts a node that follows the host and tracks the repo.
  void start(const std::string& kind = "relay:",
             std::vector<std::string> more = {}) {
    more.insert(more.end(), {"--mode", "manual"});
    node = std::make_unique<hostile_node>(std::vector{kind + host.url()},
                                          host.url(), std::move(more));
    // Its stream has a position then. An earlier fetch proves nothing, and
    // would be repeated without any event.
    EXPECT_TRUE(eventually(node_patience, [this] {
      return host.asked("/xrpc/com.atproto.sync.listRepos") > 0;
    }));
    node->add({repo.did()});
  }

  void start_synced(const std::string& kind = "relay:",
                    std::vector<std::string> more = {}) {
    start(kind, std::move(more));
    ASSERT_EQ(node->await(repo.did(), "synced").status, "synced");
  }

  /// The next commit of the repo, which adds one record.
  commit_draft next() {
    repo.put("app.test.note/" + std::to_string(++records), make_record("more"));
    return repo.draft();
  }

  void send(commit_draft x, const test_repo& signer) {
    x.seq = ++seq;
    ASSERT_TRUE(stream.send(x.encode(x.sign(signer.key()))));
  }

  void send(commit_draft x) { send(std::move(x), repo); }

  void expect_synced() {
    EXPECT_TRUE(eventually(node_patience,
                           [&] {
                             const auto is = node->repo(repo.did());
                             return is.status == "synced"
                                    && is.rev == repo.rev().str();
                           }))
      << node->repo(repo.did()).status << ' ' << node->repo(repo.did()).error;
  }

  uint64_t events(const std::string& result) {
    return node->metric("weir_repo_events_total{result=\"" + result + "\"}");
  }

  hostile_stream stream;
  hostile_host host;
  live_repo repo{1};
  std::unique_ptr<hostile_node> node;
  size_t records = 0;
  int64_t seq = 0;
};

} // namespace

// CONS-11; completeness.md, Acting: a gap leads to a fetch, whether or not
// another event comes.
TEST_F(DroppedEventTest, WhatCannotBeReadIsFetched) {
  start_synced();
  next();
  host.serve(repo);
  atproto::cbor::writer x;
  x.begin_map(2).put_text("t").put_text("#commit").put_text("op").put_int(1);
  x.begin_map(3).put_text("rev").put_text(repo.rev().str());
  x.put_text("seq").put_int(++seq).put_text("repo").put_text(repo.did().str());
  ASSERT_TRUE(stream.send(x.take()));
  expect_synced();
  EXPECT_EQ(events("bad_shape"), 1u);
}

// The same for an event of the account's own host that its key did not sign.
// protocol-coverage.md 2.5.6
TEST_F(DroppedEventTest, WhatItsOwnHostSendsAndNobodySignedIsFetched) {
  start_synced("pds:");
  auto x = next();
  host.serve(repo);
  send(std::move(x), live_repo{2});
  expect_synced();
  EXPECT_EQ(events("bad_signature"), 1u);
}

// protocol-coverage.md 5.0: a host whose repo is behind its own stream
TEST_F(DroppedEventTest, AFetchThatIsOlderThanItsCauseIsNoSuccess) {
  start_synced("relay:", {"--retry-backoff-max", "1s"});
  const auto before = http_answer(200, as_text(repo.export_car()));
  next(); // This commit is never sent.
  auto x = next();
  const auto now = http_answer(200, as_text(repo.export_car()));
  const auto asked = std::make_shared<std::atomic<int>>(0);
  host.on_repo(repo.did(), [=](raw_peer& peer, const std::string&) {
    peer.send(++*asked <= 2 ? before : now);
  });
  send(std::move(x));
  expect_synced();
  EXPECT_EQ(*asked, 3);
  EXPECT_EQ(events("chain_broken"), 1u);
}

// protocol-coverage.md 3.2, 5.3: a host that was restored from a backup has
// signed another state with a rev that we have; its present state counts
TEST_F(DroppedEventTest, AnotherStateUnderTheRevWeHaveIsFetched) {
  start_synced();
  constexpr std::chrono::microseconds step{1};
  manual_clock time{repo.now() + -step};
  test_repo other{1, atproto::curve::k256, &time}; // Has the same keys and rev.
  time.advance(step);
  other.put("app.test.note/b", make_record("two"));
  other.put("app.test.note/c", make_record("three"));
  other.commit();
  ASSERT_EQ(other.rev(), repo.rev());
  ASSERT_NE(other.data(), repo.data());
  host.serve(other);
  ASSERT_TRUE(stream.send(other.sync_frame(++seq)));
  EXPECT_TRUE(eventually(node_patience, [&] {
    const auto is = node->repo(repo.did());
    return is.status == "synced" && is.records == 2;
  })) << node->repo(repo.did()).error;
  const auto data = node->data_dir();
  node->restart([&] { EXPECT_EQ(store_left::read(data).findings, ""); });
  other.put("app.test.note/d", make_record("four"));
  auto x = other.draft();
  x.seq = ++seq;
  ASSERT_TRUE(stream.send(x.encode(x.sign(other.key()))));
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node->repo(repo.did()).rev == other.rev().str();
  }));
  EXPECT_EQ(events("applied"), 1u) << "without another fetch";
}

// protocol-coverage.md 5.2: between its import and its first write an account
// still has its old key
TEST_F(DroppedEventTest, AFetchThatItsKeyRefusedIsTriedAgainWithTheNextCommit) {
  const live_repo other{2};
  host.on_document(
    repo.did(),
    say(http_answer(200, make_document(repo.did().str(),
                                       other.key().public_part().to_multikey(),
                                       host.url()))));
  start("relay:", {"--retry-backoff-min", "1h", "--retry-backoff-max", "1h"});
  const auto failed = node->await_failure(repo.did());
  EXPECT_TRUE(failed.error.starts_with("verification_failed")) << failed.error;
  host.publish(repo, host.url());
  auto x = next();
  host.serve(repo);
  send(std::move(x));
  expect_synced();
}

// protocol-coverage.md 5.2: an account that moved here and has not written yet.
// Its document never changes, so only this event shows that its root may be a
// new one.
TEST_F(DroppedEventTest, AFetchThatItsKeyRefusedIsTriedAgainWithItsIdentity) {
  const live_repo other{2};
  auto imported = repo.blocks();
  const auto commit = encode_signed_commit(
    {repo.did(), repo.rev(), repo.data(), {}, {}}, other.key());
  imported.push_back({atproto::cid::of_dag_cbor(commit), commit});
  host.on_repo(
    repo.did(),
    say(http_answer(200, as_text(make_car(imported.back().first, imported)))));
  start("relay:", {"--retry-backoff-min", "1h", "--retry-backoff-max", "1h"});
  const auto failed = node->await_failure(repo.did());
  EXPECT_TRUE(failed.error.starts_with("verification_failed")) << failed.error;
  next();
  host.serve(repo);
  atproto::identity_event x;
  x.seq = ++seq;
  x.repo = repo.did();
  const auto made = frame_time_of_now();
  x.time = made;
  ASSERT_TRUE(stream.send(atproto::encode_frame(x)));
  expect_synced();
}

// architecture.md, Limits: more comes during a fetch than stays in memory. A
// host sends #commit and #sync with one rev when it creates an account.
TEST_F(DroppedEventTest, ACommitAndASyncOfOneRevAreBothKept) {
  std::promise<void> sent;
  host.on_repo(
    repo.did(),
    [answer = http_answer(200, as_text(repo.export_car())),
     go = sent.get_future().share()](raw_peer& peer, const std::string&) {
      go.wait();
      peer.send(answer);
    });
  start();
  node->await(repo.did(), "syncing");
  while (static_cast<size_t>(seq) <= limits::repo_waiting_commits_max) {
    send(next());
    ASSERT_TRUE(stream.send(repo.sync_frame(++seq)));
  }
  EXPECT_TRUE(
    node->await_metric("weir_upstream_cursor", static_cast<uint64_t>(seq)));
  sent.set_value();
  expect_synced();
  EXPECT_EQ(events("chain_broken"), 0u);
  EXPECT_EQ(host.asked("/xrpc/com.atproto.sync.getRepo?"), 1u);
}

} // namespace weir::tests
