#include "actors/support/limits.hpp"
#include "tests/unit/actors/buffering_repo.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SYNC-26: a failed fetch keeps nothing
TEST(repo_buffer, a_fetch_that_fails_drops_what_was_kept) {
  buffering x;
  x.write_commits(buffering::commits_max + 3);
  x.settle();
  x.fail_fetch(7, fail(ec::unreachable));
  x.settle();
  EXPECT_THAT(x.buffer, IsEmpty());
  EXPECT_EQ(x.machine->waiting(), 0u);
  EXPECT_EQ(x.row->status, repo_status::error);
}

// SYNC-26: commits that were not on disk yet are dropped, too
TEST(repo_buffer, a_fetch_that_fails_takes_puts_back_that_were_not_sent) {
  buffering x;
  storage::new_operation op;
  op.scope = "app.test.note";
  op.rkey = "a";
  op.id = atproto::cid::of_dag_cbor(make_record("a"));
  x.chunk(7, {op});
  x.write_commits(buffering::commits_max + 1); // These wait for the chunk.
  x.fail_fetch(7, fail(ec::unreachable));
  x.settle();
  EXPECT_THAT(x.buffer, IsEmpty());
  EXPECT_EQ(x.row->status, repo_status::error);
}

// SYNC-26: a page of a job that ended is useless
TEST(repo_buffer, a_page_that_comes_after_its_job_is_not_taken) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.answered();
  x.list({}, account_status::takendown);
  x.pass(x.settings->listing_grace);
  EXPECT_THAT(x.job_ends, ElementsAre(ec::account_inactive));
  x.account_event(true, {}, relay_id);
  x.settle();
  x.start_fetch(8);
  x.answer = x.root();
  x.write_commits(buffering::commits_max + 1);
  x.fetched(8, *x.answer);
  x.settle();
  EXPECT_EQ(x.reads, 1u);
  // The page starts at another place.
  x.page_after = std::next(x.buffer.begin(), 5)->first;
  x.page(10, false);
  EXPECT_EQ(x.machine->waiting(), 0u);
  EXPECT_EQ(x.reads, 2u);
  x.page_after = {};
  x.serve_pages();
  EXPECT_EQ(x.count_of(repo_counter::chain_broken), 0u);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// SYNC-26: unreadable commits are missing
TEST(repo_buffer, a_buffer_that_cannot_be_read_desyncs_the_repo) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.answered();
  EXPECT_EQ(x.reads, 1u);
  x.fail_page(fail(ec::storage_failure, "a block is damaged"));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_THAT(x.row->error, testing::HasSubstr("a block is damaged"));
  EXPECT_THAT(x.cancelled, ElementsAre(7));
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_THAT(x.buffer, IsEmpty());
}

// SYNC-26: the next job reads its own buffer from its start
TEST(repo_buffer, the_place_in_the_buffer_ends_with_its_job) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.answered();
  x.page(100, false);
  x.settle();
  EXPECT_NE(x.page_after, 0u);
  x.list({}, account_status::suspended);
  x.pass(x.settings->listing_grace);
  x.settle();
  x.page(100, false); // This page belongs to the job that ended.
  x.account_event(true, {}, relay_id);
  x.settle();
  x.start_fetch(8);
  x.answer = x.root();
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.fetched(8, *x.answer);
  x.settle();
  EXPECT_EQ(x.page_after, 0u);
  x.serve_pages();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// protocol-coverage.md 4.5: the host may have said it after it served its repo
TEST(repo_buffer, what_a_host_says_meanwhile_is_asked_for_again) {
  buffering x;
  x.write_commits(buffering::commits_max + 1);
  x.settle();
  x.answered(); // The fetch has ended, but the kept commits are not applied.
  x.tell({x.account.did(), pds_origin, account_status::deactivated});
  EXPECT_EQ(x.questions.size(), 1u);
  x.tell({x.account.did(), pds_origin, account_status::deactivated});
  EXPECT_EQ(x.questions.size(), 1u);
  x.pass(limits::account_question_interval);
  EXPECT_EQ(x.questions.size(), 2u);
  x.serve_pages();
  EXPECT_EQ(x.row->account, account_status::active);
  x.tell({x.account.did(), pds_origin, account_status::deactivated});
  x.learn(x.identity()); // Its host is still the same.
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

} // namespace
} // namespace weir::tests
