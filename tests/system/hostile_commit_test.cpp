#include "actors/repo/limits.hpp"
#include "atproto/car.hpp"
#include "atproto/limits.hpp"
#include "base/clock.hpp"
#include "tests/system/hostile_downloads.hpp"
#include "tests/system/live_repo.hpp"

#include <list>

namespace weir::tests {
namespace {

using atproto::cid;

/// Repos of one host whose frames come through one relay, in the order and with
/// the seqs that the test chooses.
class HostileCommitTest : public ::testing::Test {
protected:
  HostileCommitTest() {
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    other.on("/xrpc/com.atproto.sync.subscribeRepos", pds_stream.script());
  }

  /// A repo that is synced once `start` was called.
  live_repo& open() {
    auto& x = repos.emplace_back(repos.size() + 1);
    x.put("app.test.note/a", make_record("one"));
    x.commit();
    hub.publish_and_serve(x);
    return x;
  }

  /// Follows the relay, and a host that has no accounts.
  void start() {
    node = std::make_unique<hostile_node>(
      std::vector{"relay:" + hub.url(), "pds:" + other.url()}, hub.url());
    std::vector<atproto::did> all;
    for (const auto& x : repos)
      all.push_back(x.did());
    node->add(all);
    for (const auto& x : all)
      node->await(x, "synced");
    before = node->resident_bytes();
  }

  /// Expects that the connections stayed open and memory did not grow.
  void TearDown() override {
    ASSERT_TRUE(node && node->is_healthy());
    for (const auto* x : {&stream, &pds_stream}) {
      EXPECT_EQ(x->heads.size(), 1u) << "opened anew";
      EXPECT_EQ(x->ends.size(), 0u);
    }
    EXPECT_LT(node->peak_bytes(), before + 16 * megabyte + memory_slack);
  }

  void send(commit_draft x, const bytes& commit) {
    x.seq = ++seq;
    ASSERT_TRUE(stream.send(x.encode(commit)));
  }

  void send(const commit_draft& x, const test_repo& from) {
    send(x, x.sign(from.key()));
  }

  /// Waits until everything that was sent was taken.
  bool await_taken() {
    return node->await_metric("weir_upstream_cursor{upstream=\"" + hub.url()
                                + "\"}",
                              static_cast<uint64_t>(seq));
  }

  /// The revs that the node has.
  std::map<atproto::did, std::string> revs() {
    std::map<atproto::did, std::string> out;
    for (const auto& x : repos)
      out[x.did()] = node->repo(x.did()).rev;
    return out;
  }

  uint64_t count(const std::string& result) {
    return node->metric("weir_repo_events_total{result=\"" + result + "\"}");
  }

  hostile_stream stream;
  hostile_stream pds_stream;
  hostile_host hub;
  hostile_host other;
  std::list<live_repo> repos;
  std::unique_ptr<hostile_node> node;
  size_t before = 0;
  int64_t seq = 0;
  const std::string made = frame_time_of_now(); ///< The time of all frames.
};

/// The next commit of a repo, which adds one record.
commit_draft next_draft(live_repo& x, const std::string& text = "more") {
  x.put("app.test.note/next", make_record(text));
  return x.draft();
}

/// A commit whose CAR has exactly this many bytes.
commit_draft draft_of_size(live_repo& x, size_t size) {
  auto out = next_draft(x);
  const auto commit = out.sign(x.key());
  const auto size_with = [&](size_t padding) {
    auto blocks = out.blocks;
    blocks.emplace_back(cid::of_dag_cbor(commit), commit);
    bytes block(padding, 1);
    blocks.emplace_back(cid::of_dag_cbor(block), std::move(block));
    return make_car(out.object.data, blocks).size();
  };
  bytes block(size - (size_with(size / 2) - size / 2), 1);
  out.blocks.emplace_back(cid::of_dag_cbor(block), std::move(block));
  return out;
}

commit_draft draft_of_ops(live_repo& x, size_t ops) {
  for (size_t i = 0; i < ops; ++i)
    x.put("app.test.note/" + std::to_string(i), make_record("many"));
  return x.draft();
}

/// A commit whose CAR has this many blocks, including the commit block.
commit_draft draft_of_blocks(live_repo& x, size_t blocks) {
  auto out = next_draft(x);
  for (size_t i = 0; out.blocks.size() + 1 < blocks; ++i) {
    auto block = make_record(std::to_string(i));
    out.blocks.emplace_back(cid::of_dag_cbor(block), std::move(block));
  }
  return out;
}

} // namespace

// hostile-inputs.md 2.1.2: limits::commit_blocks_bytes_max, commit_ops_max,
// frame_car_blocks_max
TEST_F(HostileCommitTest, CommitsAreTakenUpToTheirLimitsAndNotAbove) {
  using maker = commit_draft (*)(live_repo&, size_t);
  const std::pair<maker, size_t> bounds[]{
    {draft_of_size, limits::commit_blocks_bytes_max},
    {draft_of_ops, limits::commit_ops_max},
    {draft_of_blocks, limits::frame_car_blocks_max}};
  for (size_t i = 0; i < 2 * std::size(bounds); ++i)
    open();
  start();
  auto repo = repos.begin();
  for (const auto& [make, most] : bounds)
    for (const auto size : {most, most + 1}) {
      const auto known = repo->rev().str();
      const auto draft = make(*repo, size);
      send(draft, *repo);
      ASSERT_TRUE(await_taken());
      EXPECT_EQ(node->repo(repo->did()).rev,
                size == most ? repo->rev().str() : known)
        << size;
      ++repo;
    }
  EXPECT_EQ(count("applied"), std::size(bounds));
  EXPECT_EQ(count("bad_shape"), std::size(bounds));
}

// hostile-inputs.md 2.1.8, 2.1.9: a forged commit; another DID's, with its key
TEST_F(HostileCommitTest, ForgedAndForeignCommitsChangeNothing) {
  auto& thief = open();
  auto& stolen = open();
  auto& high = open();
  auto& twin = open(); // Its document names the thief's key.
  hub.on_document(
    twin.did(),
    say(http_answer(200, make_document(twin.did().str(),
                                       thief.key().public_part().to_multikey(),
                                       hub.url()))));
  hub.on_repo(
    twin.did(),
    say(car_answer(signed_car(
      thief, {twin.did(), twin.rev(), twin.data(), {}, {}}, twin.blocks()))));
  start();
  const auto known = revs();
  send(next_draft(stolen), thief);
  const auto high_draft = next_draft(high);
  auto high_commit = high_draft.sign(high.key());
  raise_s(high_commit);
  send(high_draft, high_commit);
  auto foreign = next_draft(thief);
  const auto foreign_commit = foreign.sign(thief.key());
  foreign.object.repo = twin.did();
  send(foreign, foreign_commit);
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(count("bad_signature"), 2u);
  EXPECT_EQ(count("bad_shape"), 1u);
  EXPECT_EQ(revs(), known);
}

// hostile-inputs.md 2.1.8: a key is not valid any more after a rotation.
TEST_F(HostileCommitTest, AKeyIsWorthNothingAfterItsRotation) {
  auto& thief = open(); // Has the former key.
  auto& repo = open();
  hub.on_document(
    repo.did(),
    say(http_answer(200, make_document(repo.did().str(),
                                       thief.key().public_part().to_multikey(),
                                       hub.url()))));
  hub.on_repo(
    repo.did(),
    say(car_answer(signed_car(
      thief, {repo.did(), repo.rev(), repo.data(), {}, {}}, repo.blocks()))));
  start();
  hub.publish(repo, hub.url());
  const auto path = "/" + repo.did().str();
  const auto asked = hub.asked(path);
  atproto::identity_event rotated;
  rotated.seq = ++seq;
  rotated.repo = repo.did();
  rotated.time = made;
  ASSERT_TRUE(stream.send(atproto::encode_frame(rotated)));
  EXPECT_TRUE(await_taken()); // The document was read by then.
  EXPECT_GT(hub.asked(path), asked);
  const auto known = revs();
  const auto draft = next_draft(repo);
  send(draft, thief);
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(count("bad_signature"), 1u);
  EXPECT_EQ(revs(), known);
  send(draft, repo);
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(node->repo(repo.did()).rev, repo.rev().str());
}

// hostile-inputs.md 2.1.8, 2.1.9: forged, foreign and future #sync events. Only
// the last one, which the account signed, leads to a fetch.
TEST_F(HostileCommitTest, ForgedSyncEventsChangeNothing) {
  auto& thief = open();
  auto& repo = open();
  start();
  const auto known = revs();
  const auto fetches = hub.asked("/xrpc/com.atproto.sync.getRepo");
  auto later = repo;
  later.put("app.test.note/later", make_record("later"));
  later.draft();
  const auto send_sync = [&](const test_repo& signer, atproto::tid rev,
                             const atproto::did& inside) {
    const auto commit = atproto::encode_signed_commit(
      {inside, rev, later.data(), {}, {}}, signer.key());
    const auto id = cid::of_dag_cbor(commit);
    const auto car = make_car(id, {{id, commit}});
    atproto::sync_event x;
    x.seq = ++seq;
    x.repo = repo.did();
    x.time = made;
    x.rev = rev;
    x.blocks = car;
    ASSERT_TRUE(stream.send(atproto::encode_frame(x)));
  };
  send_sync(thief, later.rev(), repo.did());
  send_sync(repo, later.rev(), thief.did());
  send_sync(repo,
            atproto::tid::from_time(
              system_clock().wall_now() + std::chrono::years{174}, 1),
            repo.did());
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(count("sync_refused"), 2u);
  EXPECT_EQ(count("future_rev"), 1u) << "signed all the same: it is fetched";
  EXPECT_EQ(revs(), known);
  EXPECT_EQ(node->await(repo.did(), "synced").rev, known.at(repo.did()));
  EXPECT_LE(hub.asked("/xrpc/com.atproto.sync.getRepo"), fetches + 1);
}

// hostile-inputs.md 2.1.20: what one account deletes is gone there and only
// there, although another has exactly the same blocks.
TEST_F(HostileCommitTest, WhatOneAccountDeletesAnotherNeitherLosesNorRevives) {
  auto& gone = open();
  auto& holder = open();
  ASSERT_EQ(gone.records(), holder.records());
  start();
  atproto::account_event deleted;
  deleted.seq = ++seq;
  deleted.repo = gone.did();
  deleted.time = made;
  deleted.status = "deleted";
  ASSERT_TRUE(stream.send(atproto::encode_frame(deleted)));
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(node->repo(gone.did()).records, 0u);
  EXPECT_EQ(node->repo(holder.did()).records, 1u);
  send(next_draft(holder, "one"), holder);
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(node->repo(holder.did()).records, 2u);
  EXPECT_EQ(node->repo(gone.did()).records, 0u);
}

// hostile-inputs.md 2.1.12: limits::rev_future_max
TEST_F(HostileCommitTest, RevsOfTheFutureAreNeverStored) {
  const auto send_ahead = [this](live_repo& x, std::chrono::seconds ahead) {
    auto draft = next_draft(x);
    draft.object.rev
      = atproto::tid::from_time(system_clock().wall_now() + ahead, 1);
    send(draft, x);
    return draft.object.rev.str();
  };
  auto& soon = open();
  auto& late = open();
  auto& far = open();
  start();
  auto expected = revs();
  constexpr std::chrono::seconds most = limits::rev_future_max;
  expected[soon.did()] = send_ahead(soon, most - 1s);
  send_ahead(late, most + 30s); // The check comes a moment later.
  send_ahead(far, std::chrono::years{174});
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(count("applied"), 1u);
  EXPECT_EQ(count("future_rev"), 2u);
  EXPECT_EQ(revs(), expected);
}

// SYNC-28; hostile-inputs.md 2.1.11: the whole stream a second time, with new
// seqs, produces no event.
TEST_F(HostileCommitTest, AReplayOfTheWholeStreamIsNoEvent) {
  for (size_t i = 0; i < 4; ++i)
    open();
  start();
  std::vector<std::pair<commit_draft, bytes>> all;
  for (int round = 0; round < 25; ++round)
    for (auto& x : repos) {
      const auto draft = next_draft(x, std::to_string(round));
      all.emplace_back(draft, draft.sign(x.key()));
      send(draft, all.back().second);
    }
  ASSERT_TRUE(await_taken());
  const auto known = revs();
  const auto events = node->log_end();
  EXPECT_EQ(count("applied"), all.size());
  for (const auto& x : repos)
    EXPECT_EQ(known.at(x.did()), x.rev().str());
  for (const auto& [draft, commit] : all)
    send(draft, commit);
  ASSERT_TRUE(await_taken());
  EXPECT_EQ(count("replayed"), all.size());
  EXPECT_EQ(revs(), known);
  EXPECT_EQ(node->log_end(), events);
}

// hostile-inputs.md 2.1.10: account on another host. A PDS's events about
// foreign accounts are dropped: commits, and deletions.
TEST_F(HostileCommitTest, AHostSpeaksForItsOwnAccountsOnly) {
  auto& repo = open();
  start();
  const auto known = revs();
  auto draft = next_draft(repo);
  draft.seq = 1;
  ASSERT_TRUE(pds_stream.send(draft.encode(draft.sign(repo.key()))));
  atproto::account_event gone;
  gone.seq = 2;
  gone.repo = repo.did();
  gone.time = made;
  gone.status = "deleted";
  ASSERT_TRUE(pds_stream.send(atproto::encode_frame(gone)));
  EXPECT_TRUE(node->await_metric(
    "weir_upstream_cursor{upstream=\"" + other.url() + "\"}", 2));
  EXPECT_EQ(count("wrong_host"), 2u);
  EXPECT_EQ(revs(), known);
  EXPECT_EQ(node->repo(repo.did()).status, "synced");
}

// hostile-inputs.md 2.1.11: an older repo from a host is not accepted, and a
// repo whose chain broke is fetched again.
TEST_F(HostileCommitTest, AnOlderRepoThanIsKnownIsRefused) {
  auto& repo = open(); // The host continues to serve its present state.
  start();
  send(next_draft(repo), repo);
  ASSERT_TRUE(await_taken());
  const auto known = revs();
  next_draft(repo, "lost"); // This commit is never sent.
  send(next_draft(repo, "later"), repo);
  const auto told = node->await_failure(repo.did());
  EXPECT_NE(told.error.find("the host served rev"), std::string::npos)
    << told.error;
  EXPECT_EQ(told.rev, known.at(repo.did()));
  EXPECT_EQ(told.records, 2u);
  hub.serve(repo);
  EXPECT_EQ(node->await(repo.did(), "synced").rev, repo.rev().str());
}

// hostile-inputs.md 2.1.33: limits::refresh_burst_max a minute
TEST_F(HostileCommitTest, AFloodOfIdentityEventsIsAFewLookUps) {
  auto& repo = open();
  start();
  const auto asked = hub.asked("/" + repo.did().str());
  atproto::identity_event hint;
  hint.repo = repo.did();
  hint.time = made;
  for (int i = 0; i < 100'000; ++i) {
    hint.seq = ++seq;
    ASSERT_TRUE(stream.send(atproto::encode_frame(hint)));
  }
  ASSERT_TRUE(await_taken());
  EXPECT_LE(hub.asked("/" + repo.did().str()),
            asked + limits::refresh_burst_max);
  EXPECT_EQ(node->repo(repo.did()).status, "synced");
}

} // namespace weir::tests
