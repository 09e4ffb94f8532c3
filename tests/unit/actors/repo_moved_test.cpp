#include "actors/repo/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// A directory that is behind a migration (protocol-coverage.md 2.5.6, 4.1,
/// 4.6): the former host says that the account is inactive, and the document
/// still names that host.
namespace weir::tests {
namespace {

using storage::account_status;

/// The former host has said so, and the document named it.
struct moved_repo : repo_world {
  moved_repo() {
    sync();
    account_event(false, "deactivated", pds_id);
    settle();
    clear();
  }

  storage::identity_row at_new_host() const {
    auto out = identity();
    out.pds = other_origin;
    return out;
  }

  /// Starts the next life, in which no look-up of the document is left.
  void restart_unconcerned() {
    row->identity_due = false;
    restart();
    learn(identity());
  }

  void expect_found() {
    ASSERT_EQ(questions.size(), 1u);
    EXPECT_EQ(questions[0].pds, other_origin);
    answer(account_status::active, other_origin);
    settle();
    EXPECT_EQ(row->account, account_status::active);
    EXPECT_EQ(wishes.size(), 1u) << "it is fetched from there";
  }
};

TEST(repo_moved, the_document_is_looked_at_again_after_an_account_went_away) {
  moved_repo x;
  ASSERT_EQ(x.row->account, account_status::deactivated);
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
  const auto before = x.refreshes;
  x.pass(limits::second_look_pause);
  ASSERT_EQ(x.refreshes, before + 1);
  x.learn(x.at_new_host());
  x.expect_found();
}

// protocol-coverage.md 2.1.3: an account that continues to write is not
// inactive, whatever its document says
TEST(repo_moved, a_host_that_says_again_what_is_doubted_may_be_the_former_one) {
  moved_repo x;
  x.restart_unconcerned();
  x.take(x.make_commit());
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.questions[0].pds, pds_origin);
  x.clear();
  const auto before = x.refreshes;
  x.answer(account_status::deactivated);
  ASSERT_EQ(x.refreshes, before + 1);
  x.learn(x.at_new_host());
  x.expect_found();
}

TEST(repo_moved, a_listing_of_a_host_that_no_document_names_is_a_reason) {
  moved_repo x;
  x.restart_unconcerned();
  const auto before = x.refreshes;
  x.list(x.account.rev(), account_status::deactivated, other_pds_id);
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, before) << "it says the same";
  x.list(x.account.rev(), account_status::active, other_pds_id);
  x.pass(limits::second_look_pause);
  ASSERT_EQ(x.refreshes, before + 1);
  x.learn(x.at_new_host());
  x.expect_found();
}

// The listed rev is newer than the copy's.
TEST(repo_moved, so_is_one_of_an_account_that_is_active) {
  for (const auto newer : {false, true}) {
    repo_world x;
    x.sync();
    const auto before = x.refreshes;
    if (newer)
      x.make_commit();
    x.list(x.account.rev(), account_status::active, other_pds_id);
    x.pass(limits::second_look_pause);
    EXPECT_EQ(x.refreshes, before + newer);
  }
}

// protocol-coverage.md 4.6: right after a migration its head is signed by the
// old key, so a fetch would only fail. No frame was refused.
TEST(repo_moved, the_move_that_was_looked_for_is_no_reason_to_fetch) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.list(x.account.rev(), account_status::active, other_pds_id);
  x.pass(limits::second_look_pause);
  test_repo next{2};
  auto moved = x.identity();
  moved.pds = other_origin;
  moved.signing_key = next.key().public_part().to_multikey();
  x.learn(moved);
  x.settle();
  EXPECT_EQ(x.row->pds, other_origin);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_TRUE(x.wishes.empty());
}

} // namespace
} // namespace weir::tests
