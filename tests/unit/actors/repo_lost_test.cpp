#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// RepoNotFound is the answer to a question while a fetch of the same repo runs
/// (protocol-coverage.md 4.5). It is neither lost nor accepted before the fetch
/// ends.
namespace weir::tests {
namespace {

using testing::IsEmpty;

/// A repo that is out of sync and being fetched.
struct fetched_repo : repo_world {
  fetched_repo() {
    sync();
    make_commit(); // This commit is lost.
    take(make_commit());
    start_fetch(7);
    EXPECT_EQ(row->status, repo_status::syncing);
    clear();
  }

  /// Refuses a fetch with RepoNotFound.
  void refuse(uint64_t job) {
    fail_fetch(job, fail(ec::account_inactive, "RepoNotFound"),
               account_status::deleted);
    settle();
  }
};

} // namespace

TEST(repo_lost, the_time_of_the_first_time_is_kept_during_a_fetch) {
  fetched_repo x;
  x.answer_once(other_origin);
  x.settle();
  EXPECT_EQ(x.row->not_found_at, 0) << "that is not its host";
  x.answer_once(pds_origin);
  x.settle();
  EXPECT_EQ(x.row->not_found_at, x.now.wall.seconds());
  EXPECT_EQ(x.row->status, repo_status::syncing) << "the fetch goes on";
}

TEST(repo_lost, the_second_time_counts_when_the_fetch_finds_nothing) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.answer(account_status::deleted);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active) << "the fetch decides";
  x.refuse(7);
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_THAT(x.questions, IsEmpty());
}

// The fetch during which it came failed for another reason, so the next fetch
// decides.
TEST(repo_lost, the_second_time_is_kept_until_a_fetch_says_what_is_so) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.answer(account_status::deleted);
  x.fail_fetch(7, fail(ec::unreachable, "timeout"));
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  x.learn(x.identity());
  x.start_fetch(8);
  x.refuse(8);
  EXPECT_EQ(x.row->account, account_status::deleted);
}

TEST(repo_lost, one_time_and_a_fetch_that_finds_nothing_are_not_enough) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.refuse(7);
  EXPECT_EQ(x.row->account, account_status::active);
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_TRUE(x.questions[0].not_found);
}

TEST(repo_lost, what_another_host_says_does_not_count) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.answer(account_status::deleted, other_origin);
  x.refuse(7);
  EXPECT_EQ(x.row->account, account_status::active);
}

TEST(repo_lost, a_fetch_that_succeeds_ends_it) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.answer(account_status::deleted);
  x.fetched(7);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_TRUE(x.resync());
  x.start_fetch(8);
  x.refuse(8);
  EXPECT_EQ(x.row->account, account_status::active) << "it begins anew";
  EXPECT_NE(x.row->not_found_at, 0);
}

// An old document may name a former host, whose answer does not count.
TEST(repo_lost, an_old_document_is_looked_up_before_it_is_believed) {
  fetched_repo x;
  x.answer_once(pds_origin);
  x.pass(limits::identity_current + 1s);
  x.answer(account_status::deleted);
  x.refuse(7);
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deleted);
}

// The directory is down when the host says it for the second time, and the repo
// was loaded for that, so its identity is on disk.
TEST(repo_lost, what_the_host_says_waits_for_the_directory) {
  repo_world x;
  x.sync();
  x.answer_once(pds_origin);
  x.settle();
  x.restart();
  x.answer(account_status::deleted);
  ASSERT_EQ(x.refreshes, 1u);
  x.learn(fail(ec::unreachable, "HTTP 503"));
  x.pass(limits::lookup_pause_min);
  ASSERT_EQ(x.refreshes, 2u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deleted);
}

} // namespace weir::tests
