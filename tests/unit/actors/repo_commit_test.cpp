#include "atproto/limits.hpp"
#include "storage/tables/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// A commit with another time than the account's next one.
bytes commit_at(repo_world& x, wall_time at) {
  auto draft = x.account.draft();
  draft.object.rev = atproto::tid::from_time(at, 7);
  return draft.encode(draft.sign(x.account.key()));
}

// SYNC-28; CONS-18, CONS-23; architecture.md I4: the frame is finished only
// when the update is durable
// protocol-coverage.md 1.10, 2.1.7, 2.5.3
TEST(repo_commits, a_commit_on_our_root_is_applied_and_then_finished) {
  repo_world x;
  x.sync();
  const auto seq = x.take(x.make_commit("app.test.note/a"));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  EXPECT_FALSE(x.finished(seq));
  const auto update = x.write();
  EXPECT_TRUE(x.finished(seq));
  ASSERT_EQ(update.transactions.size(), 1u);
  const auto& tx = update.transactions[0];
  EXPECT_TRUE(tx.live);
  EXPECT_EQ(tx.from, storage::provenance::live);
  EXPECT_EQ(tx.rev, x.account.rev());
  ASSERT_EQ(tx.ops.size(), 2u);
  EXPECT_EQ(tx.ops[0].scope, "app.test.note");
  EXPECT_EQ(tx.ops[0].rkey, "a");
  EXPECT_EQ(tx.ops[1].scope, storage::commit_scope);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// The store copies a record once more (RecordCopiesTest).
TEST(repo_commits, a_record_is_a_part_of_its_frame_and_no_copy) {
  repo_world x;
  x.sync();
  const auto frame = x.stamp(x.make_commit("app.test.note/a"), relay_id);
  x.perform_frames({frame});
  const auto update = x.write();
  const auto record = update.transactions.at(0).ops.at(0).content.view();
  ASSERT_FALSE(record.empty());
  EXPECT_GE(record.data(), frame.bytes.data());
  EXPECT_LE(record.data() + record.size(),
            frame.bytes.data() + frame.bytes.size());
}

// SYNC-20, SYNC-24: the chain advances whatever the filter is
TEST(repo_commits, a_commit_outside_the_filter_still_moves_the_chain) {
  repo_world x{{"app.other.*"}};
  x.sync();
  x.take(x.make_commit("app.test.note/a"));
  EXPECT_EQ(x.count_of(repo_counter::commit_filtered), 1u);
  EXPECT_THAT(x.write().transactions, IsEmpty()) << "it needs no entry";
  EXPECT_EQ(x.chain->rev, x.account.rev());
  EXPECT_EQ(x.chain->data, x.account.data());
  EXPECT_EQ(x.chain->passed, 1u);
  EXPECT_EQ(atproto::cid::of_dag_cbor(x.chain->passed_block.view()),
            x.chain->commit);
  x.take(x.make_commit("app.other.note/b"));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  const auto update = x.write();
  EXPECT_EQ(update.transactions.at(0).ops.size(), 2u);
  EXPECT_EQ(update.transactions.at(0).passed, 1u);
  EXPECT_EQ(x.chain->passed, 0u);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// protocol-coverage.md 2.1.4
// protocol-coverage.md 2.1.0
TEST(repo_commits, a_replay_is_finished_when_what_it_repeats_is_durable) {
  repo_world x;
  x.sync();
  const auto frame = x.make_commit();
  const auto first = x.take(frame);
  const auto replay = x.take(frame);
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
  EXPECT_THAT(x.done, IsEmpty());
  x.write();
  EXPECT_THAT(x.done, testing::UnorderedElementsAre(first, replay));
  EXPECT_TRUE(x.finished(x.take(frame)));
  EXPECT_FALSE(x.in_flight);
}

// protocol-coverage.md 2.1.0: the cheap check comes first and suffices
TEST(repo_commits, an_old_rev_is_a_replay_whoever_signed_it) {
  repo_world x;
  x.sync();
  const auto draft = x.account.draft();
  x.take(draft.encode(draft.sign(x.account.key())));
  x.write();
  const test_repo stranger{99};
  const auto forged = x.take(draft.encode(draft.sign(stranger.key())));
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 0u);
  EXPECT_EQ(x.refreshes, 0u);
  EXPECT_TRUE(x.finished(forged));
  EXPECT_FALSE(x.in_flight);
}

// OPLOG-34; architecture.md I4
TEST(repo_commits, an_update_that_is_not_written_stops_the_repo) {
  for (const auto outcome :
       {update_outcome::fenced, update_outcome::mismatch}) {
    repo_world x;
    x.sync();
    const auto frame = x.make_commit();
    x.take(frame);
    x.take(frame);
    x.write(outcome);
    ASSERT_EQ(x.stops.size(), 1u);
    EXPECT_EQ(x.stops[0].code == ec::none, outcome == update_outcome::fenced);
    EXPECT_THAT(x.done, IsEmpty());
  }
}

// SYNC-07, SYNC-16, SYNC-27; protocol-coverage.md 2.5.5
// protocol-coverage.md 2.1.6
TEST(repo_commits, a_commit_on_another_root_desyncs_and_is_not_applied) {
  repo_world x;
  x.sync();
  x.make_commit(); // This commit is lost.
  const auto seq = x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::desync);
  EXPECT_FALSE(x.finished(seq));
  const auto update = x.write();
  EXPECT_THAT(update.transactions, IsEmpty());
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->last_indexed_rev, x.chain->rev);
}

// prevData decides, whatever `since` is
// protocol-coverage.md 2.5.4, 11.12
TEST(repo_commits, a_wrong_since_with_our_root_is_applied) {
  repo_world x;
  x.sync();
  x.account.put("app.test.note/a", make_record("a"));
  auto draft = x.account.draft();
  draft.since = atproto::tid{draft.since->value() + (1 << 20)};
  x.take(draft.encode(draft.sign(x.account.key())));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
}

// protocol-coverage.md 2.5.8: its form proves nothing
TEST(repo_commits, a_commit_that_cannot_be_proved_desyncs) {
  repo_world x;
  x.make_commit();
  x.sync();
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  draft.prev_data = {};
  x.take(draft.encode(draft.sign(x.account.key())));
  EXPECT_EQ(x.count_of(repo_counter::unverifiable), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// protocol-coverage.md 2.5.7: the signature is valid, the proof is not
// protocol-coverage.md 11.7
TEST(repo_commits, a_commit_whose_proof_is_false_desyncs) {
  repo_world x;
  x.sync();
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  draft.ops[0].path = "app.test.note/c";
  x.take(draft.encode(draft.sign(x.account.key())));
  EXPECT_EQ(x.count_of(repo_counter::bad_proof), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// protocol-coverage.md 2.5.6, 7; ADR 12, 8: after one refresh it is quarantined
TEST(repo_commits, a_bad_signature_asks_once_and_changes_nothing) {
  repo_world x;
  x.sync();
  test_repo stranger{2};
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  const auto seq = x.take(draft.encode(draft.sign(stranger.key())));
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_FALSE(x.finished(seq));
  x.learn(x.identity());
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 1u);
  EXPECT_FALSE(x.finished(seq)) << "the row does not say so yet";
  const auto update = x.write();
  EXPECT_TRUE(update.transactions.empty());
  EXPECT_TRUE(x.finished(seq));
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
  EXPECT_FALSE(x.machine->row().gap);
  EXPECT_TRUE(x.refused.empty()) << "a relay speaks for many";
}

// ADR 12, 8: on a PDS's own stream it also opens a gap, which leads to a fetch,
// and the host is charged (hostile-inputs.md 2.1.8)
TEST(repo_commits, a_bad_signature_from_the_host_itself_opens_a_gap) {
  repo_world x;
  x.sync();
  test_repo stranger{2};
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  const auto seq = x.take(draft.encode(draft.sign(stranger.key())), pds_id);
  EXPECT_TRUE(x.refused.empty()) << "it may be right by the next document";
  x.learn(x.identity());
  EXPECT_FALSE(x.finished(seq));
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.refused, std::vector{seq});
  EXPECT_TRUE(x.row->gap);
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// protocol-coverage.md 7.6: key rotation
TEST(repo_commits, a_new_key_found_by_the_refresh_proves_the_commit) {
  repo_world x;
  x.sync();
  test_repo next{2};
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  x.take(draft.encode(draft.sign(next.key())));
  x.rotate_key(next);
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 0u);
}

// protocol-coverage.md 2.1.4: `limits::rev_future_max` ahead, and a microsecond
// more
TEST(repo_commits, a_rev_too_far_in_the_future_is_refused) {
  for (const auto beyond : {0us, 1us}) {
    repo_world x;
    x.sync();
    x.account.put("app.test.note/b", make_record("b"));
    x.take(commit_at(x, x.now.wall + limits::rev_future_max + beyond));
    EXPECT_EQ(x.count_of(repo_counter::future_rev), beyond == 0us ? 0u : 1u);
    EXPECT_EQ(x.count_of(repo_counter::commit_applied),
              beyond == 0us ? 1u : 0u);
    EXPECT_EQ(x.machine->row().status, beyond == 0us ? repo_status::synced
                                                     : repo_status::desync);
  }
}

// protocol-coverage.md 2.1.1
TEST(repo_commits, a_frame_that_is_no_event_is_counted_and_finished) {
  repo_world x;
  x.sync();
  EXPECT_TRUE(x.finished(x.take({0xff, 0x00})));
  EXPECT_EQ(x.count_of(repo_counter::bad_shape), 1u);
}

// ADR 21, 1: Pending, Error, Desync drop; Error keeps its back-off
// protocol-coverage.md 2.1.4, 2.5.2
TEST(repo_commits, a_repo_out_of_sync_drops_commits_and_keeps_its_state) {
  for (const auto status :
       {repo_status::pending, repo_status::error, repo_status::desync}) {
    repo_world x;
    x.sync();
    x.row->status = status;
    x.row->next_retry = 99;
    x.row->retry_count = 3;
    x.restart();
    x.learn(x.identity());
    x.settle();
    EXPECT_TRUE(x.finished(x.take(x.make_commit())));
    EXPECT_TRUE(x.finished(x.take(x.account.sync_frame(9))));
    EXPECT_EQ(x.count_of(repo_counter::out_of_sync), 2u);
    EXPECT_FALSE(x.in_flight);
    EXPECT_EQ(x.machine->row().status, status);
    EXPECT_EQ(x.machine->row().next_retry, 99);
    EXPECT_EQ(x.machine->row().retry_count, 3u);
  }
}

// actors.md, One update of a repo: `limits::repo_coalesced_commits_max`, and
// one more
TEST(repo_commits, commits_are_coalesced_up_to_the_limit) {
  constexpr auto max = limits::repo_coalesced_commits_max;
  for (const auto busy : {false, true}) {
    repo_world x;
    x.sync();
    if (busy)
      x.take(x.make_commit());
    std::vector<bytes> frames;
    for (size_t i = 0; i < max + 1; ++i)
      frames.push_back(x.make_commit());
    x.take_all(frames);
    if (busy)
      x.write();
    EXPECT_EQ(x.in_flight->update->transactions.size(), max);
    EXPECT_EQ(x.in_flight->marks.size(), max);
    EXPECT_EQ(x.machine->waiting(), 1u);
    x.write();
    EXPECT_EQ(x.write().transactions.size(), 1u);
    EXPECT_EQ(x.chain->rev, x.account.rev());
  }
}

// architecture.md, The stages: frames wait, in order, until the rows are loaded
TEST(repo_commits, frames_before_the_rows_wait_for_them_and_the_key) {
  repo_world x;
  x.sync();
  x.machine.emplace(x.account.did(), x.settings, 2);
  const auto a = x.take(x.make_commit());
  const auto b = x.take(x.make_commit());
  EXPECT_FALSE(x.machine->idle());
  EXPECT_THAT(x.done, IsEmpty());
  x.machine->on_loaded({x.row, x.chain, x.member}, x.now);
  EXPECT_TRUE(x.machine->on_awake(x.now).load_identity);
  x.learn(x.identity());
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 2u);
  EXPECT_EQ(x.write().actor_incarnation, 2u);
  EXPECT_THAT(x.done, ElementsAre(a, b));
}

// protocol-coverage.md 2.2: valid blocks with a commit of another rev
TEST(repo_commits, a_commit_of_another_shape_than_its_frame_says_is_dropped) {
  repo_world x;
  x.sync();
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  const auto block = draft.sign(x.account.key());
  draft.object.rev = atproto::tid{draft.object.rev.value() + 1'024};
  EXPECT_TRUE(x.finished(x.take(draft.encode(block))));
  EXPECT_EQ(x.count_of(repo_counter::bad_shape), 1u);
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
}

// protocol-coverage.md 2.4.4, 6.9: counted, whether it comes in a commit or by
// a fetch
TEST(repo_commits, a_record_that_is_none_is_counted) {
  repo_world x;
  x.sync();
  x.account.put("app.test.note/bad", bytes{0xf6});
  x.take(x.make_commit());
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 1u);
  EXPECT_EQ(x.count_of(repo_counter::record_undecodable), 1u);
  x.settle();
  x.resync();
  x.start_fetch(7);
  auto op = create_op("other");
  op.undecodable = true;
  x.chunk(7, {create_op("one"), op});
  EXPECT_EQ(x.count_of(repo_counter::record_undecodable), 2u);
}

// protocol-coverage.md 8.4, 8.5: without a key nothing can be proved, and
// without a PDS no host speaks for the account
TEST(repo_commits, without_a_key_or_a_pds_commits_are_dropped) {
  for (const auto keyless : {true, false})
    for (const auto sync : {true, false}) {
      repo_world x;
      x.sync();
      auto fact = x.identity();
      (keyless ? fact.signing_key : fact.pds).clear();
      x.identity_event();
      x.learn(fact);
      x.settle();
      x.clear();
      const auto before = x.chain->rev;
      const auto frame = x.make_commit();
      const auto seq
        = x.take(sync ? x.account.sync_frame(9) : frame, pds_id);
      for (int i = 0; i < 3; ++i)
        x.learn(fact);
      x.settle();
      EXPECT_TRUE(x.finished(seq));
      EXPECT_EQ(x.count_of(repo_counter::commit_applied), 0u);
      EXPECT_EQ(x.count_of(repo_counter::sync_applied), 0u);
      EXPECT_EQ(x.chain->rev, before) << keyless << sync;
      EXPECT_TRUE(x.log.empty() || x.log.back().rev == before);
    }
}

} // namespace
} // namespace weir::tests
