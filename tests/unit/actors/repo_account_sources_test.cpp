#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// The statements of a relay, the host's stream and the host itself about an
/// account, and when the host is asked (protocol-coverage.md 2.1.3, 4.1, 4.5).
namespace weir::tests {
namespace {

using testing::IsEmpty;

struct synced_repo : repo_world {
  synced_repo() {
    sync();
    clear();
  }
};

// protocol-coverage.md 4.1, 4.3
TEST(repo_account_sources, a_relays_takedown_outlives_the_hosts_words) {
  synced_repo x;
  x.account_event(false, "takendown", relay_id);
  x.settle();
  ASSERT_EQ(x.row->account, account_status::takendown);
  x.account_event(true, {}, pds_id);
  x.list(x.account.rev(), account_status::active, pds_id);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
  EXPECT_THAT(x.wishes, IsEmpty());
  x.restart();
  x.account_event(true, {}, relay_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.t7: no host can withdraw the directory's tombstone
TEST(repo_account_sources, a_tombstone_outlives_events_and_listings) {
  synced_repo x;
  x.identity_event();
  x.learn_gone();
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deleted);
  x.clear();
  for (const auto from : {pds_id, relay_id}) {
    x.list(x.account.rev(), account_status::active, from);
    x.pass(x.settings->listing_grace);
    x.account_event(true, {}, from);
    x.settle();
  }
  x.restart();
  x.answer(account_status::active);
  x.take(x.make_commit());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_THAT(x.orders, IsEmpty());
  EXPECT_TRUE(x.resync());
  EXPECT_GT(x.refreshes, 0u) << "only a document can bring it back";
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// protocol-coverage.md 4.1: no upstream is left that could withdraw it
TEST(repo_account_sources, a_relay_that_is_followed_no_more_takes_nobody_down) {
  synced_repo x;
  x.account_event(false, "takendown", relay_id);
  x.settle();
  ASSERT_EQ(x.row->account, account_status::takendown);
  ASSERT_EQ(x.row->words.relays.size(), 1u);
  x.row->words.relays[0].at.upstream = 99;
  x.restart();
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_THAT(x.row->words.relays, IsEmpty());
  EXPECT_EQ(x.wishes.size(), 1u);
}

// protocol-coverage.md 4.5: when a fetch succeeds, the host itself says that
// the account is active
TEST(repo_account_sources, a_fetch_outweighs_a_listing_that_is_behind) {
  repo_world x;
  x.board.put(quiet_upstream(pds_id, "https://elsewhere.test", 1, 1));
  x.sync();
  x.clear();
  x.list(x.account.rev(), account_status::deactivated);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  ASSERT_EQ(x.questions.size(), 1u);
  x.answer(account_status::deactivated);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// A commit of such an account raises no doubt: the host never said that it is
// inactive.
TEST(repo_account_sources, a_relays_takedown_is_not_asked_about) {
  synced_repo x;
  x.account_event(false, "takendown", relay_id);
  x.settle();
  x.take(x.make_commit(), pds_id);
  EXPECT_THAT(x.questions, IsEmpty());
}

// protocol-coverage.md 2.1.3: once in `limits::account_question_interval`
TEST(repo_account_sources, commits_of_an_account_that_is_away_are_asked_about) {
  synced_repo x;
  x.account_event(false, "deactivated");
  x.settle();
  for (int i = 0; i < 3; ++i)
    x.take(x.make_commit());
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.questions[0].pds, pds_origin);
  EXPECT_FALSE(x.questions[0].at_once);
  x.pass(limits::account_question_interval - 1us);
  x.take(x.make_commit());
  EXPECT_EQ(x.questions.size(), 1u);
  x.pass(1us);
  x.take(x.make_commit());
  EXPECT_EQ(x.questions.size(), 2u);
  x.answer(account_status::active);
  x.learn(x.identity()); // It was requested before that statement.
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// SYNC-33; protocol-coverage.md 4.5
TEST(repo_account_sources, an_account_that_is_away_can_be_asked_about_by_hand) {
  synced_repo x;
  x.account_event(false, "suspended");
  x.settle();
  // The time of the last question does not matter.
  for (size_t i = 1; i <= 2; ++i) {
    EXPECT_TRUE(x.resync());
    ASSERT_EQ(x.questions.size(), i);
    EXPECT_TRUE(x.questions.back().at_once);
  }
  EXPECT_EQ(x.row->account, account_status::suspended);
  x.answer(account_status::active);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.wishes.size(), 1u);
}

TEST(repo_account_sources, a_host_that_is_not_known_is_looked_up_and_asked) {
  repo_world x;
  x.add_known();
  x.account_event(false, "deactivated", pds_id);
  x.settle();
  x.row->pds.clear();
  x.restart();
  x.clear();
  EXPECT_TRUE(x.resync());
  EXPECT_THAT(x.questions, IsEmpty());
  EXPECT_EQ(x.loads, 1u);
  x.learn(x.identity());
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.questions[0].pds, pds_origin);
}

// protocol-coverage.md 4.6: the state at the old host is not that at the new
// one
TEST(repo_account_sources, the_new_host_of_an_account_that_is_away_is_asked) {
  synced_repo x;
  x.account_event(false, "deactivated");
  x.settle();
  auto moved = x.identity();
  moved.pds = other_origin;
  x.learn(moved);
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.questions[0].pds, other_origin);
  x.answer(account_status::active, other_origin);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.1: the host has a stream of its own, and the relay may
// be behind
TEST(repo_account_sources, a_relay_that_contradicts_the_host_makes_us_ask) {
  synced_repo x;
  x.account_event(false, "deleted", relay_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.questions.size(), 1u);
  x.answer(account_status::active);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

// protocol-coverage.md 4.5: a request soon after a question is not forgotten
TEST(repo_account_sources, a_question_that_comes_too_soon_is_asked_later) {
  synced_repo x;
  x.account_event(false, "deactivated", relay_id);
  x.settle();
  ASSERT_EQ(x.questions.size(), 1u);
  x.answer(account_status::deactivated);
  x.learn(x.identity());
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deactivated);
  x.account_event(true, {}, relay_id);
  x.settle();
  EXPECT_EQ(x.questions.size(), 1u);
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true)) << "memory is short";
  x.pass(limits::account_question_interval);
  EXPECT_EQ(x.questions.size(), 2u);
  x.answer(account_status::active);
  x.learn(x.identity()); // It was requested before that statement.
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.5, t5: records stay until it is certain
TEST(repo_account_sources, a_repo_is_erased_when_its_host_says_it_is_gone) {
  synced_repo x;
  x.answer(account_status::deleted);
  EXPECT_TRUE(x.write().erase);
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_EQ(x.row->words.host, account_status::deleted);
}

// A fetch in progress shows the account's state by itself.
TEST(repo_account_sources, an_answer_during_a_fetch_changes_nothing) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.answer(account_status::deleted);
  x.fetched(7);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->status, repo_status::synced);
}

} // namespace
} // namespace weir::tests
