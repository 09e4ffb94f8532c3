#include "actors/repo/limits.hpp"
#include "actors/support/clock_board.hpp"
#include "actors/support/limits_health.hpp"
#include "tests/unit/actors/repo_world.hpp"

// architecture.md, A wrong clock: how a repo handles a rev in the future.
namespace weir::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

/// A repo of a node whose clock does not move, and other signers.
class RepoClockTest : public testing::Test {
protected:
  RepoClockTest() {
    board.begin(1, 1);
    x.sync();
    x.now.clock = &board;
  }

  bytes commit_in(std::chrono::microseconds ahead) {
    const auto name = "later-" + std::to_string(++records_);
    x.account.put("app.test.note/" + name, make_record(name));
    auto draft = x.account.draft();
    draft.object.rev = atproto::tid::from_time(x.now.wall + ahead, 1);
    return draft.encode(draft.sign(x.account.key()));
  }

  /// Other accounts sign with revs that are `ahead` of the node's clock.
  void others(size_t n, std::chrono::microseconds ahead) {
    for (size_t i = 0; i < n; ++i)
      board.on_signed({relay_id, true, i, i, x.now.wall + ahead}, x.now.steady,
                      x.now.wall);
  }

  /// The wall clock is set forward.
  void correct(std::chrono::microseconds by) {
    x.now.wall = x.now.wall + by;
    board.look(x.now.steady, x.now.wall);
  }

  /// Lets the hold pass.
  void hear_others() {
    x.now.steady = x.now.steady + limits::clock_hold;
    x.now.wall = x.now.wall + limits::clock_hold;
    board.look(x.now.steady, x.now.wall);
  }

  /// Fills the window of a stream up to this frame.
  void fill_to(uint32_t upstream, uint64_t seq) {
    auto view = x.board.find(upstream);
    view.gives_way = seq;
    x.board.put(view);
  }

  repo_world x;
  clock_board board;

private:
  size_t records_ = 0;
};

} // namespace

TEST_F(RepoClockTest, ACommitBeyondAClockThatManyDoubtWaitsAndIsApplied) {
  others(limits::clock_signers_min, 1h);
  const auto first = x.take(commit_in(1h));
  const auto next = x.take(commit_in(1h + 1s));
  for (int i = 0; i < 1'000; ++i)
    x.pass(limits::clock_check_interval);
  EXPECT_FALSE(x.finished(first));
  EXPECT_FALSE(x.finished(next));
  EXPECT_FALSE(x.machine->idle()) << "it must not be put to sleep";
  correct(1h);
  x.pass(limits::clock_check_interval);
  x.settle();
  EXPECT_TRUE(x.finished(first));
  EXPECT_TRUE(x.finished(next));
  EXPECT_EQ(x.count_of(repo_counter::commit_applied), 2u);
  EXPECT_EQ(x.count_of(repo_counter::future_rev), 0u);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// Otherwise no frames would come that could show the time
TEST_F(RepoClockTest, WhileOthersAreHeardItMakesRoomWhereThereIsNone) {
  others(limits::clock_signers_min, 1h);
  const auto first = x.take(commit_in(1h));
  const auto next = x.take(commit_in(1h + 1s));
  fill_to(relay_id, first);
  x.pass(limits::clock_check_interval);
  EXPECT_FALSE(x.finished(first)) << "nobody is being heard";
  hear_others();
  fill_to(relay_id, first - 1);
  x.pass(limits::clock_check_interval);
  EXPECT_FALSE(x.finished(first)) << "there is room for this one";
  fill_to(relay_id, first);
  x.pass(limits::clock_check_interval);
  EXPECT_FALSE(x.finished(first)) << "not before the row says so";
  x.settle();
  EXPECT_TRUE(x.finished(first));
  EXPECT_TRUE(x.finished(next));
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.row->error, HasSubstr("future_rev"));
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.count_of(repo_counter::future_rev), 0u);
  EXPECT_THAT(x.refused, IsEmpty()) << "nobody is at fault yet";
  correct(1h);
  x.run_fetch(3);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// The second stream's window is full of frames that wait after the first one's
TEST_F(RepoClockTest, WhatWaitsBehindItMakesRoomToo) {
  others(limits::clock_signers_min, 1h);
  const auto frame = commit_in(1h);
  const auto first = x.take(frame);
  const auto behind = x.take(frame, pds_id);
  hear_others();
  fill_to(pds_id, behind);
  x.pass(limits::clock_check_interval);
  x.settle();
  EXPECT_TRUE(x.finished(first));
  EXPECT_TRUE(x.finished(behind));
  EXPECT_EQ(x.row->status, repo_status::desync);
}

// architecture.md, A wrong clock: limits::repo_clock_wait_max
TEST_F(RepoClockTest, WithoutAVerdictItWaitsAMoment) {
  const auto seq = x.take(commit_in(1h));
  x.pass(limits::repo_clock_wait_max - 1us);
  EXPECT_FALSE(x.finished(seq));
  x.pass(1us);
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.count_of(repo_counter::future_rev), 1u);
}

// The commit is signed, so our copy is not the account's state
TEST_F(RepoClockTest, ARevThatIsAtFaultLeavesNoRepoSynced) {
  others(limits::clock_signers_min, 0s);
  const auto seq = x.take(commit_in(1h));
  EXPECT_THAT(x.done, IsEmpty()) << "not before the row says so";
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.row->error, HasSubstr("future_rev"));
  ASSERT_EQ(x.wishes.size(), 1u);
}

TEST_F(RepoClockTest, TheSameHoldsForASync) {
  x.make_commit();
  x.now.wall = x.account.now() + -1h;
  others(limits::clock_signers_min, 1h);
  const auto seq = x.take(x.account.sync_frame(1));
  x.pass(limits::clock_check_interval);
  EXPECT_FALSE(x.finished(seq));
  correct(1h);
  x.pass(limits::clock_check_interval);
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.row->status, repo_status::desync) << "it shows another root";
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 1u);
}

// Without a valid signature there is no signer: a stranger cannot give evidence
// about the time
TEST_F(RepoClockTest, AForgedRevIsNoEvidence) {
  test_repo stranger{2};
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  draft.object.rev = atproto::tid::from_time(x.now.wall + 1h, 1);
  x.take(draft.encode(draft.sign(stranger.key())));
  x.learn(x.identity()); // A newer document does not verify it either.
  EXPECT_EQ(x.count_of(repo_counter::bad_signature), 1u);
  EXPECT_THAT(x.heard, IsEmpty());
  x.take(x.make_commit());
  EXPECT_EQ(x.heard.size(), 1u);
}

TEST_F(RepoClockTest, AFetchedRevIsEvidenceAndWhileInDoubtNoFailure) {
  x.resync();
  x.start_fetch(2);
  x.clear();
  const auto rev = atproto::tid::from_time(x.now.wall + 1h, 1);
  others(limits::clock_signers_min, 1h);
  x.fail_fetch(2, fail(ec::verification_failed, "future_rev"), {}, rev);
  x.settle();
  ASSERT_EQ(x.heard.size(), 1u);
  EXPECT_EQ(x.heard[0].upstream, 0u);
  EXPECT_EQ(x.heard[0].rev, rev);
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->retry_count, 0u);
  EXPECT_EQ(x.refreshes, 0u) << "the key is not in question";
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].not_before,
            x.now.wall.seconds() + limits::clock_refetch_wait.count());
  correct(1h);
  x.start_fetch(3);
  x.fail_fetch(3, fail(ec::verification_failed, "future_rev"), {}, rev);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.row->retry_count, 1u);
}

} // namespace weir::tests
