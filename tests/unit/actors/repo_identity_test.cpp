#include "actors/repo/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::HasSubstr;

constexpr auto at_once = limits::refresh_burst_max;

// -- #identity (protocol-coverage.md 4) ---------------------------------------

// protocol-coverage.md 4: the event is a hint, and the look-up decides.
// architecture.md I4: it is finished when a crash cannot lose it any more.
// protocol-coverage.md 4.0
TEST(repo_identity, an_identity_event_resolves_anew_and_the_row_says_so) {
  repo_world x;
  x.sync();
  x.identity_event();
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.done.size(), 0u);
  x.settle();
  EXPECT_EQ(x.done.size(), 1u);
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_FALSE(x.machine->idle());
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_TRUE(x.machine->idle());
}

// architecture.md I4: the document has come, but its handle is not verified yet
TEST(repo_identity, an_event_is_due_until_the_last_answer) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.settle();
  auto fact = x.identity();
  x.learn(fact, false);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_FALSE(x.machine->idle());
  fact.handle = "new.test";
  x.learn(fact, true);
  x.settle();
  EXPECT_EQ(x.row->handle, "new.test");
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_EQ(x.refreshes, 1u);
}

// protocol-coverage.md 4.0
// architecture.md I4: after a kill before that, the next life asks by itself:
// first for the known document, because an outage must not stop it, and then
// for a new one
TEST(repo_identity, an_event_that_is_due_outlives_a_crash) {
  for (const auto known : {false, true}) {
    repo_world x;
    x.sync();
    x.identity_event();
    x.settle();
    if (known)
      x.learn(x.identity(), false);
    x.clear();
    x.restart();
    EXPECT_EQ(x.loads, 1u);
    EXPECT_EQ(x.refreshes, 0u);
    x.learn(x.identity());
    EXPECT_EQ(x.refreshes, 1u);
    x.learn(x.identity());
    x.settle();
    EXPECT_FALSE(x.row->identity_due);
    EXPECT_TRUE(x.machine->idle());
  }
}

// architecture.md I4: the same for the first handle of a repo
TEST(repo_identity, the_first_identity_is_due_until_its_handle_is_checked) {
  repo_world x;
  x.add();
  x.settle();
  auto fact = x.identity();
  x.learn(fact, false);
  x.settle();
  EXPECT_EQ(x.row->pds, pds_origin);
  EXPECT_TRUE(x.row->identity_due);
  fact.handle = "alice.test";
  x.learn(fact);
  x.settle();
  EXPECT_EQ(x.row->handle, "alice.test");
  EXPECT_FALSE(x.row->identity_due);
}

// architecture.md I4: IDENTITY's last answer was to an earlier question, before
// it knew of the event
TEST(repo_identity, an_answer_to_an_older_question_does_not_end_an_event) {
  repo_world x;
  x.sync();
  const auto before = x.asked;
  x.identity_event();
  ASSERT_EQ(x.asked, before + 1);
  x.learn(x.identity(), true, before);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_FALSE(x.machine->idle());
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_TRUE(x.machine->idle());
}

// The answer that was awaited when a second event came does not end it either
TEST(repo_identity, an_event_during_a_look_up_is_due_after_it) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.identity_event();
  x.learn(x.identity());
  x.settle();
  EXPECT_TRUE(x.row->identity_due) << "the second one is being looked up";
  EXPECT_EQ(x.refreshes, 2u);
}

// protocol-coverage.md 4; hostile-inputs.md 2.1.33: at
// `limits::refresh_burst_max`, and one more
// protocol-coverage.md 2.5.9, 4.0
TEST(repo_identity, refreshes_are_bounded_and_the_one_too_many_comes_later) {
  repo_world x;
  x.sync();
  for (size_t i = 0; i < at_once; ++i) {
    x.identity_event();
    x.learn(x.identity());
  }
  EXPECT_EQ(x.refreshes, at_once);
  x.identity_event();
  EXPECT_EQ(x.refreshes, at_once);
  x.settle();
  EXPECT_EQ(x.done.size(), at_once + 1); // A flood would block its stream.
  x.pass(x.settings->refresh_min - 1us);
  EXPECT_EQ(x.refreshes, at_once);
  x.pass(1us);
  EXPECT_EQ(x.refreshes, at_once + 1);
  x.learn(x.identity());
  x.settle();
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 4: the document may have changed after it was read
TEST(repo_identity, an_event_during_a_refresh_is_answered_by_another_one) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.identity_event();
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  EXPECT_EQ(x.refreshes, 2u);
  x.learn(x.identity());
  EXPECT_EQ(x.refreshes, 2u);
  x.settle();
  EXPECT_EQ(x.done.size(), 2u);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 4: the hint is not lost while the directory is down
TEST(repo_identity, an_event_is_looked_up_again_until_the_directory_answers) {
  repo_world x;
  x.sync();
  x.identity_event();
  for (const auto why :
       {ec::unreachable, ec::limit_reached, ec::not_found, ec::malformed}) {
    const auto n = x.refreshes;
    x.learn(fail(why));
    EXPECT_EQ(x.refreshes, n);
    x.pass(limits::repo_wait_max);
    EXPECT_EQ(x.refreshes, n + 1);
  }
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 4: a directory keeps every document, also that of a repo
// whose document is not in memory
TEST(repo_identity, a_directory_that_forgets_whom_it_knew_is_asked_again) {
  repo_world x;
  x.sync();
  x.restart();
  x.identity_event();
  for (const auto why : {ec::not_found, ec::malformed}) {
    const auto n = x.refreshes;
    x.learn(fail(why));
    x.pass(limits::repo_wait_max);
    EXPECT_EQ(x.refreshes, n + 1);
  }
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  x.learn(x.identity());
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
}

// protocol-coverage.md 4: the same while the first identity is being read
TEST(repo_identity, an_event_before_the_first_identity_is_not_forgotten) {
  repo_world x;
  x.add();
  x.settle();
  x.identity_event();
  EXPECT_EQ(x.refreshes, 0u);
  x.learn(x.identity());
  EXPECT_EQ(x.refreshes, 1u);
}

// hostile-inputs.md 2.1.33: one row finishes all of them
TEST(repo_identity, a_flood_of_events_is_finished_by_one_row) {
  repo_world x;
  x.sync();
  x.identity_event();
  for (size_t i = 0; i < at_once; ++i) {
    x.identity_event();
    x.learn(x.identity());
  }
  EXPECT_EQ(x.refreshes, at_once);
  x.write();
  EXPECT_EQ(x.done.size(), at_once + 1);
  EXPECT_FALSE(x.in_flight);
  EXPECT_FALSE(x.machine->idle()); // It will be looked up once more.
}

// The timer rings for another reason
TEST(repo_identity, a_refresh_that_is_due_outlives_an_earlier_timer) {
  repo_world x;
  x.sync();
  for (size_t i = 0; i <= at_once; ++i) {
    x.identity_event();
    x.learn(x.identity());
  }
  x.make_commit();
  x.board.put(away_upstream(pds_id, pds_origin));
  x.list(x.account.rev());
  x.pass(x.settings->listing_grace);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
  EXPECT_EQ(x.refreshes, at_once);
  x.pass(x.settings->refresh_min);
  EXPECT_EQ(x.refreshes, at_once + 1);
}

// storage-format.md 3.2: facts of the handle are operations
TEST(repo_identity, a_new_handle_is_logged_and_an_equal_one_is_not) {
  repo_world x;
  x.sync();
  auto fact = x.identity();
  fact.handle = "alice.test";
  x.learn(fact);
  EXPECT_EQ(x.count_of(repo_counter::identity_changed), 1u);
  const auto update = x.write();
  ASSERT_EQ(update.transactions.size(), 1u);
  const auto& op = update.transactions[0].ops.at(0);
  EXPECT_EQ(op.scope, storage::identity_scope);
  EXPECT_THAT(std::string{as_text(op.content.view())},
              HasSubstr(R"("handle":"alice.test")"));
  EXPECT_EQ(x.row->handle, "alice.test");
  x.learn(fact);
  EXPECT_FALSE(x.in_flight);
  fact.handle.clear();
  x.learn(fact);
  x.settle();
  EXPECT_THAT(std::string{as_text(x.log.back().ops.at(0).content.view())},
              HasSubstr(R"("handle":"handle.invalid")"));
}

} // namespace
} // namespace weir::tests
