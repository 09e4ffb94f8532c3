#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// Updates that the store will never accept (`update_outcome::refused`), and
/// endless commits that their account never signed.
namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// SYNC-06, SYNC-13; architecture.md I4: this is a failure of the repo, not of
// its actor
TEST(repo_refused, a_commit_that_is_refused_is_an_error_with_back_off) {
  repo_world x;
  x.sync();
  const auto rev = x.chain->rev;
  const auto sent = x.take(x.make_commit());
  const auto next = x.take(x.make_commit());
  x.write(update_outcome::refused);
  EXPECT_THAT(x.stops, IsEmpty());
  EXPECT_EQ(x.count_of(repo_counter::update_refused), 1u);
  EXPECT_THAT(x.done, IsEmpty());
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::error);
  EXPECT_EQ(x.wishes[0].not_before, x.now.wall.seconds() + 60);
  const auto update = x.write();
  EXPECT_THAT(update.transactions, IsEmpty());
  EXPECT_FALSE(update.chain);
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.row->retry_count, 1u);
  EXPECT_THAT(x.row->error, HasSubstr("invalid_argument"));
  EXPECT_EQ(x.chain->rev, rev);
  EXPECT_TRUE(x.finished(sent));
  EXPECT_TRUE(x.finished(next));
  EXPECT_TRUE(x.machine->idle());
  EXPECT_TRUE(x.finished(x.take(x.make_commit())));
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// SYNC-15: an update that is always refused is tried more and more rarely
TEST(repo_refused, a_chunk_that_is_refused_ends_its_job) {
  repo_world x;
  x.add_known();
  for (uint64_t job = 1; job <= 3; ++job) {
    x.start_fetch(job);
    x.clear();
    x.chunk(job, {create_op("a")});
    x.write(update_outcome::refused);
    EXPECT_THAT(x.cancelled, ElementsAre(job));
    EXPECT_EQ(x.wishes.back().not_before, x.now.wall.seconds() + (30 << job));
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::error);
    EXPECT_EQ(x.row->retry_count, job);
    EXPECT_EQ(x.row->resync_id, 0u);
  }
}

// OPLOG-33: the job ended before the answer came
TEST(repo_refused, a_chunk_of_an_ended_job_changes_nothing) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.chunk(1, {create_op("a")});
  x.account_event(false, "suspended");
  x.write(update_outcome::refused);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::suspended);
  EXPECT_EQ(x.row->retry_count, 0u);
}

// CONS-13: the claims of a refused update do not count
TEST(repo_refused, a_root_that_is_refused_leaves_nothing_of_completeness) {
  repo_world x;
  x.add_known();
  x.board.put(quiet_upstream(pds_id, pds_origin, 1, 55));
  x.start_fetch(1);
  x.take(x.make_commit());
  x.fetched(1);
  x.write(update_outcome::refused);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_FALSE(x.row->last_indexed_rev.defined());
  EXPECT_FALSE(x.row->first_rev.defined());
  EXPECT_FALSE(x.row->fcsr.defined());
  EXPECT_EQ(x.machine->waiting(), 0u);
}

// protocol-coverage.md 4: a fact in the same update is not lost with the commit
TEST(repo_refused, facts_beside_a_refused_commit_are_written_without_it) {
  for (const auto* word : {"deactivated", "deleted"}) {
    repo_world x;
    x.sync();
    x.take(x.make_commit());
    x.take(x.make_commit()); // It waits, and the fact with it.
    x.account_event(false, word);
    x.write(update_outcome::refused);
    const auto update = x.write();
    ASSERT_EQ(update.transactions.size(), 1u);
    EXPECT_EQ(update.transactions[0].ops.at(0).scope, storage::account_scope);
    EXPECT_EQ(update.erase, x.row->account == account_status::deleted);
    EXPECT_NE(x.row->account, account_status::active);
    EXPECT_THAT(x.wishes, IsEmpty());
    EXPECT_EQ(x.done.size(), 3u);
  }
}

// The fact itself may be too large
TEST(repo_refused, a_fact_that_is_refused_alone_is_not_tried_again) {
  repo_world x;
  x.sync();
  x.account_event(false, "deleted");
  x.write(update_outcome::refused);
  const auto update = x.write();
  EXPECT_THAT(update.transactions, IsEmpty());
  EXPECT_TRUE(update.erase);
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_FALSE(x.chain->rev.defined());
  EXPECT_FALSE(x.in_flight);
}

// SYNC-30: the removal that waits continues from the durable state
TEST(repo_refused, a_removal_follows_a_refused_update) {
  repo_world x;
  x.sync();
  const auto seq = x.take(x.make_commit());
  x.remove();
  x.write(update_outcome::refused);
  EXPECT_FALSE(x.finished(seq));
  EXPECT_TRUE(x.write().forget);
  EXPECT_TRUE(x.finished(seq));
  EXPECT_FALSE(x.row);
  EXPECT_TRUE(x.removed);
}

// hostile-inputs.md 2.1.34: the content of a frame that its UPSTREAM skipped is
// fetched
TEST(repo_poison, a_frame_that_was_stepped_over_puts_its_repo_out_of_sync) {
  repo_world x;
  x.sync();
  x.clear();
  auto frame = x.stamp(x.make_commit(), relay_id);
  frame.kind = atproto::frame_kind::unknown;
  frame.bytes = {};
  x.perform_frames({frame});
  EXPECT_EQ(x.count_of(repo_counter::poison), 1u);
  EXPECT_FALSE(x.finished(frame.at.seq)) << "not before the row says so";
  x.write();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_TRUE(x.row->identity_due) << "it may have been an #identity";
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_TRUE(x.finished(frame.at.seq));
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::desync);
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->data, x.account.data());
}

TEST(repo_poison, a_repo_that_is_not_fetched_yet_needs_no_other_fetch) {
  repo_world x;
  x.add_known();
  x.clear();
  auto frame = x.stamp(x.make_commit(), relay_id);
  frame.kind = atproto::frame_kind::unknown;
  frame.bytes = {};
  x.perform_frames({frame});
  EXPECT_EQ(x.count_of(repo_counter::poison), 1u);
  EXPECT_TRUE(x.finished(frame.at.seq));
  EXPECT_THAT(x.wishes, IsEmpty());
}

// hostile-inputs.md 2.1.8: a flood of forged commits leaves CPU time to others
TEST(repo_refused, forged_commits_are_refused_a_few_a_turn) {
  constexpr auto turn = limits::repo_refusals_a_turn;
  constexpr auto burst = limits::refresh_burst_max;
  repo_world x;
  x.sync();
  test_repo stranger{2};
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  const auto forged = draft.encode(draft.sign(stranger.key()));
  x.take_all(std::vector<bytes>(burst + 2 * turn, forged));
  for (size_t i = 1; i <= burst; ++i) {
    EXPECT_EQ(x.refreshes, i);
    EXPECT_EQ(x.count_of(repo_counter::bad_signature), i - 1);
    x.learn(x.identity());
  }
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), burst - 1 + turn);
  EXPECT_EQ(x.timer, x.now.steady);
  x.pass(0us);
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), burst - 1 + 2 * turn);
  x.pass(0us);
  x.settle();
  EXPECT_EQ(x.done.size(), burst + 2 * turn);
  // After this no document is newer than the last ones.
  x.pass(x.settings->refresh_min);
  EXPECT_EQ(x.refreshes, burst + 1);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
  EXPECT_TRUE(x.row->identity_due) << "a second look is to come";
  EXPECT_TRUE(x.machine->idle(true));
}

// hostile-inputs.md 2.1.8: many forged commits are many reasons for a newer
// document. When no more are fetched, the next commits are refused with a
// recent one
TEST(repo_refused, a_host_pays_for_forged_commits_beyond_its_look_ups) {
  constexpr auto burst = limits::refresh_burst_max;
  repo_world x;
  x.sync();
  const test_repo stranger{2};
  const auto forge = [&](const char* path) {
    x.account.put(path, make_record("b"));
    auto draft = x.account.draft();
    return draft.encode(draft.sign(stranger.key()));
  };
  x.take(forge("app.test.note/b"), pds_id);
  x.learn(x.identity());
  x.settle();
  x.run_fetch(2); // The first gap is fetched at once, the next one waits.
  const auto looked_up = x.refreshes;
  x.refused.clear();
  x.take_all(std::vector<bytes>(burst + 3, forge("app.test.note/c")), pds_id);
  while (looked_up + x.refused.size() < burst && x.machine->waiting() > 0)
    x.learn(x.identity());
  while (x.machine->waiting() > 0 && x.timer == x.now.steady)
    x.pass(0us);
  EXPECT_EQ(x.refreshes, burst);
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
  EXPECT_THAT(x.refused, SizeIs(burst + 3));
}

} // namespace
} // namespace weir::tests
