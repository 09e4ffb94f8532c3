#include "actors/repo/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

// Statements about an account that are judged by a document that may be old, or
// by none.
namespace weir::tests {
namespace {

// architecture.md, A wrong clock: the document was fetched while a clock was
// ahead
TEST(repo_account_stale, a_document_from_the_future_is_not_current) {
  repo_world x;
  x.add_known();
  x.now.wall = x.now.wall + -1h;
  x.clear();
  x.answer(account_status::deactivated);
  x.settle();
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.row->account, account_status::active);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// architecture.md, A wrong clock: the order of documents does not depend on the
// clock
TEST(repo_account_stale, a_clock_that_is_put_right_hides_no_new_document) {
  repo_world x;
  x.sync();
  x.pass(1h);
  x.answer(account_status::deactivated);
  x.now.wall = x.now.wall + -2h;
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// architecture.md I4: frames that were given up unchecked may have said that
// the account is back
TEST(repo_account_stale, a_gap_of_an_account_that_is_away_asks_its_host) {
  for (const auto gap : {false, true}) {
    repo_world x;
    x.sync();
    x.account_event(false, "deactivated");
    x.settle();
    x.row->gap = x.row->identity_due = gap;
    x.clear();
    x.restart();
    x.settle();
    EXPECT_EQ(x.questions.size(), gap ? 1u : 0u);
    EXPECT_EQ(x.loads, gap ? 1u : 0u);
  }
}

// The listing's host may be the former one
TEST(repo_account_stale, a_listing_takes_nothing_while_a_document_is_awaited) {
  for (const auto moves : {false, true}) {
    repo_world x;
    x.sync();
    x.board.put(quiet_upstream(pds_id, pds_origin, 1, 1));
    x.identity_event();
    x.learn(fail(ec::unreachable, "no directory"));
    x.list(x.account.rev(), account_status::deactivated, pds_id);
    x.pass(10 * x.settings->listing_grace);
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    auto fact = x.identity();
    if (moves)
      fact.pds = other_origin;
    x.learn(fact);
    x.pass(2 * x.settings->listing_grace);
    x.settle();
    EXPECT_EQ(x.questions.size(), moves ? 0u : 1u);
    x.answer(account_status::deactivated);
    x.settle();
    EXPECT_EQ(x.row->account == account_status::active, moves);
  }
}

// A line of a listing may wait for a document longer than a fetch takes
TEST(repo_account_stale, a_listing_does_not_undo_what_the_host_said_meanwhile) {
  for (const auto said : {account_status::active, account_status::suspended}) {
    repo_world x;
    x.sync(); // Its host gave the repo, so the account is active.
    x.board.put(quiet_upstream(pds_id, pds_origin, 1, 1));
    x.list({}, account_status::suspended, pds_id);
    x.pass(x.settings->listing_grace);
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    EXPECT_EQ(x.questions.size(), 1u);
    x.answer(said);
    x.settle();
    EXPECT_EQ(x.row->account, said);
  }
}

// protocol-coverage.md 4.5: an answer may be delayed, too
TEST(repo_account_stale, an_answer_that_an_event_overtook_is_asked_for_again) {
  repo_world x;
  x.sync();
  x.account_event(false, "deactivated", pds_id);
  x.settle();
  x.take(x.make_commit(), pds_id);
  ASSERT_EQ(x.questions.size(), 1u);
  x.account_event(true, {}, pds_id);
  x.learn(x.identity());
  x.settle();
  x.answer(account_status::deactivated);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  ASSERT_EQ(x.questions.size(), 2u);
  x.answer(account_status::deactivated);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// protocol-coverage.md 4.t7: a directory that reports a tombstone once may be
// wrong, and nothing announces its correction
TEST(repo_account_stale, a_tombstone_is_looked_at_again) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.learn_gone();
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deleted);
  auto asked = x.refreshes;
  x.pass(2 * limits::second_look_pause);
  EXPECT_EQ(x.refreshes, ++asked) << "by itself";
  for (uint32_t i = 0; i < limits::second_looks_max; ++i) {
    x.learn(x.gone());
    x.pass(24h);
  }
  x.learn(x.gone());
  asked = x.refreshes;
  x.pass(24h);
  ASSERT_EQ(x.refreshes, asked) << "not for ever";
  x.take(x.make_commit(), pds_id);
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, asked + 1) << "whoever writes is not gone";
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.1: a page may be delayed, and events that came
// meanwhile are newer
TEST(repo_account_stale, a_listing_undoes_no_event_behind_its_request) {
  for (const auto from : {pds_id, relay_id}) {
    for (const uint64_t told : {5u, 6u}) {
      repo_world x;
      x.sync();
      if (from == pds_id)
        x.board.put(quiet_upstream(pds_id, pds_origin, 1, 1));
      x.account_event(false, "takendown", from);
      x.settle();
      ASSERT_EQ(x.row->account, account_status::takendown);
      auto& at = from == pds_id ? x.row->words.host_at
                                : x.row->words.relays.at(0).at;
      at.seq = told;
      x.restart();
      x.learn(x.identity()); // It is the current host.
      x.list(x.account.rev(), account_status::active, from, {from, 1, 5});
      for (int i = 0; i < 5; ++i) {
        x.learn(x.identity());
        x.pass(x.settings->listing_grace);
        x.settle();
      }
      EXPECT_EQ(x.row->account == account_status::active, told == 5)
        << "seq " << told << " of upstream " << from << ", asked for at 5";
    }
  }
}

} // namespace
// protocol-coverage.md 4.5: a former host answers about an account that moved
// after the document was looked up
TEST(repo_account_stale, no_document_is_young_enough_for_a_former_host) {
  for (const auto asked : {false, true}) {
    repo_world x;
    x.add_known();
    if (asked) {
      x.answer(account_status::deactivated);
    } else {
      x.start_fetch(7);
      x.fail_fetch(7, fail(ec::account_inactive, "RepoDeactivated"),
                   account_status::deactivated);
    }
    x.settle();
    EXPECT_EQ(x.row->account, account_status::deactivated);
    EXPECT_TRUE(x.row->identity_due) << "for the next life, too";
    EXPECT_FALSE(x.machine->idle());
    EXPECT_TRUE(x.machine->idle(true)) << "memory is short";
    auto fact = x.identity();
    fact.pds = other_origin;
    x.learn(fact);
    x.settle();
    EXPECT_FALSE(x.row->identity_due);
    ASSERT_EQ(x.questions.size(), 1u);
    x.answer(account_status::active, other_origin);
    x.learn(fact);
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    ASSERT_FALSE(x.wishes.empty());
    EXPECT_EQ(x.wishes.back().not_before, 0);
  }
}

} // namespace weir::tests
