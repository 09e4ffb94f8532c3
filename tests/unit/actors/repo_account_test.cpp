#include "storage/format/account_fact.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string fact_of(const storage::transaction& tx) {
  return std::string{as_text(tx.ops.at(0).content.view())};
}

const storage::transaction* last_fact(const repo_world& x,
                                      std::string_view scope) {
  for (auto i = x.log.rbegin(); i != x.log.rend(); ++i)
    if (i->ops.at(0).scope == scope)
      return &*i;
  return nullptr;
}

/// A repo with a commit in flight and another one that waits.
struct busy_repo : repo_world {
  busy_repo() {
    sync();
    take(make_commit());
    take(make_commit());
  }
};

struct status_case {
  std::string_view word;
  account_status status;
};

// protocol-coverage.md 4.2, 4.t2, 4.t3, 4.t4: every status of the table
TEST(repo_accounts, every_inactive_status_is_kept_as_a_fact) {
  for (const auto& [word, status] : std::initializer_list<status_case>{
         {"deactivated", account_status::deactivated},
         {"suspended", account_status::suspended},
         {"takendown", account_status::takendown},
         {"", account_status::inactive},
         {"desynchronized", account_status::inactive},
         {"somethingnew", account_status::inactive}}) {
    repo_world x;
    x.sync();
    x.account_event(false, word);
    EXPECT_EQ(x.count_of(repo_counter::account_changed), 1u);
    const auto update = x.write();
    EXPECT_FALSE(update.erase);
    EXPECT_EQ(x.row->account, status) << word;
    EXPECT_EQ(x.row->status, repo_status::synced) << word;
    EXPECT_EQ(x.row->incarnation, 0u);
    const auto* fact = last_fact(x, storage::account_scope);
    ASSERT_NE(fact, nullptr);
    EXPECT_THAT(fact_of(*fact), HasSubstr(R"("is_active":false)"));
    EXPECT_THAT(fact_of(*fact), HasSubstr(storage::to_string(status)));
  }
}

// storage-format.md 3.2: an operation is identified by its CID. That of a fact
// is the raw CID of its text, so that stored facts can be checked
TEST(repo_accounts, every_fact_is_named_by_the_cid_of_its_text) {
  repo_world x;
  x.sync();
  auto fact = x.identity();
  fact.handle = "alice.test";
  x.learn(fact);
  x.settle();
  x.account_event(false, "takendown");
  x.settle();
  for (const auto scope : {storage::identity_scope, storage::account_scope}) {
    const auto* tx = last_fact(x, scope);
    ASSERT_NE(tx, nullptr) << scope;
    const auto& op = tx->ops.at(0);
    EXPECT_EQ(op.id, atproto::cid::of_raw(op.content.view())) << scope;
    EXPECT_FALSE(tx->rev.defined());
  }
  EXPECT_EQ(fact_of(*last_fact(x, storage::account_scope)),
            storage::fact_json(*x.row));
}

// protocol-coverage.md 4.2: `active` decides, whatever the status says
// protocol-coverage.md 4.t6
TEST(repo_accounts, an_active_account_is_visible_whatever_its_status_says) {
  for (const auto* word : {"", "throttled", "desynchronized", "takendown"}) {
    repo_world x;
    x.sync();
    EXPECT_FALSE(x.in_flight);
    const auto before = x.done.size();
    x.account_event(true, word);
    EXPECT_EQ(x.done.size(), before + 1);
    EXPECT_FALSE(x.in_flight);
  }
}

// protocol-coverage.md 4.4: commits and syncs of an inactive account are
// dropped
// protocol-coverage.md 2.1.3, 4.t1
// protocol-coverage.md 3.1
TEST(repo_accounts, an_inactive_account_says_nothing_until_it_is_back) {
  repo_world x;
  x.sync();
  x.account_event(false, "deactivated");
  x.settle();
  EXPECT_TRUE(x.finished(x.take(x.make_commit())));
  EXPECT_TRUE(x.finished(x.take(x.account.sync_frame(3))));
  EXPECT_EQ(x.count_of(repo_counter::inactive_account), 2u);
  EXPECT_FALSE(x.in_flight);
  EXPECT_EQ(x.questions.size(), 1u);
  x.account_event(true);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  // The commits that came were dropped.
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
  x.run_fetch(5);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// protocol-coverage.md 4: a repo that was not in sync is fetched when its
// account is back
TEST(repo_accounts, reactivation_queues_a_repo_that_is_not_synced) {
  repo_world x;
  x.add_known();
  x.account_event(false, "suspended");
  x.settle();
  x.clear();
  x.begin(4);
  EXPECT_THAT(x.job_ends, ElementsAre(ec::cancelled));
  x.account_event(true);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::pending);
}

// protocol-coverage.md 4.t5; actors.md, Erasing
TEST(repo_accounts, a_deleted_account_is_purged_in_one_update) {
  repo_world x;
  x.sync();
  x.account_event(false, "deleted");
  const auto update = x.write();
  EXPECT_TRUE(update.erase);
  EXPECT_FALSE(update.forget);
  EXPECT_FALSE(update.chain);
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.row->incarnation, 1u);
  EXPECT_FALSE(x.row->last_indexed_rev.defined());
  EXPECT_FALSE(x.row->first_rev.defined());
  EXPECT_FALSE(x.row->fcsr.defined());
  EXPECT_FALSE(x.chain->rev.defined());
  EXPECT_GT(x.machine->row().erased_through, 0u);
  EXPECT_THAT(x.wishes, IsEmpty());
}

// actors.md, Erasing: nothing survives the mark
TEST(repo_accounts, commits_that_wait_go_with_the_deleted_account) {
  busy_repo x;
  x.account_event(false, "deleted");
  x.write(); // The commit in flight came before.
  const auto update = x.write();
  ASSERT_EQ(update.transactions.size(), 1u);
  EXPECT_EQ(update.transactions[0].ops.at(0).scope, storage::account_scope);
  EXPECT_TRUE(update.erase);
  EXPECT_EQ(x.done.size(), 3u);
  EXPECT_FALSE(x.chain->rev.defined());
}

// protocol-coverage.md 4.t5: a deleted account may come back; then it is
// fetched completely
TEST(repo_accounts, a_deleted_account_that_returns_is_fetched_from_nothing) {
  repo_world x;
  x.sync();
  x.account_event(false, "deleted");
  x.settle();
  x.account_event(true);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::pending);
  x.settle();
  EXPECT_TRUE(x.finished(x.take(x.make_commit())));
  EXPECT_EQ(x.count_of(repo_counter::out_of_sync), 1u);
  x.run_fetch(2);
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_FALSE(x.orders[0].base->rev.defined());
  EXPECT_GT(x.row->erased_through, 0u);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// actors.md, Erasing: records that were purged are logged again
TEST(repo_accounts, a_deleted_account_that_returns_unchanged_is_logged_anew) {
  repo_world x;
  x.sync();
  x.account_event(false, "deleted");
  x.account_event(true);
  x.settle();
  x.run_fetch(2);
  EXPECT_EQ(x.chain->data, x.account.data());
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// protocol-coverage.md 4; SYNC-30: a status that changes during a fetch ends
// the fetch
TEST(repo_accounts, an_account_that_goes_away_ends_its_fetch) {
  for (const auto* word : {"takendown", "deleted"}) {
    repo_world x;
    x.add_known();
    x.start_fetch(7);
    x.take(x.make_commit());
    x.account_event(false, word);
    EXPECT_THAT(x.job_ends, ElementsAre(ec::account_inactive));
    EXPECT_THAT(x.cancelled, ElementsAre(7));
    x.fetched(7);
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::pending);
    EXPECT_EQ(x.machine->waiting(), 0u);
    EXPECT_TRUE(x.machine->idle());
  }
}

// protocol-coverage.md 5.0: the host gives the reason, so the fetch is not
// retried
TEST(repo_accounts, a_host_that_names_a_status_ends_the_retries) {
  for (const auto status :
       {account_status::deactivated, account_status::suspended,
        account_status::takendown}) {
    repo_world x;
    x.add_known();
    x.start_fetch(7);
    x.clear();
    x.fail_fetch(7, fail(ec::account_inactive, "RepoGone"), status);
    x.settle();
    EXPECT_EQ(x.row->account, status);
    EXPECT_EQ(x.row->status, repo_status::pending);
    EXPECT_EQ(x.row->retry_count, 0u);
    EXPECT_THAT(x.wishes, IsEmpty());
    EXPECT_NE(last_fact(x, storage::account_scope), nullptr);
  }
}

// protocol-coverage.md 4: a repo that is not fetched cannot fail, whichever
// server said that the account is inactive
TEST(repo_accounts, a_repo_that_fails_and_goes_away_fails_no_more) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.fail_fetch(7, fail(ec::malformed, "no CAR file"));
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::error);
  x.account_event(false, "deactivated");
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.row->error, "");
  EXPECT_EQ(x.row->retry_count, 0u);
  EXPECT_EQ(x.row->next_retry, 0);
}

// protocol-coverage.md 4.t7, 8: a tombstoned DID counts as deleted
TEST(repo_accounts, a_tombstoned_identity_deletes_the_account) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.write();
  x.learn_gone();
  EXPECT_TRUE(x.write().erase);
  EXPECT_EQ(x.row->account, account_status::deleted);
}

} // namespace
} // namespace weir::tests
