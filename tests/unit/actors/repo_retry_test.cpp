#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using namespace std::chrono_literals;

/// A document with a handle that is not confirmed.
storage::identity_row unconfirmed(const repo_world& x) {
  auto out = x.identity();
  out.claimed_handle = "alice.test";
  return out;
}

storage::identity_row confirmed(const repo_world& x) {
  auto out = unconfirmed(x);
  out.handle = out.claimed_handle;
  return out;
}

/// Lets the pause before the next try pass.
/// @returns whether the identity was looked up again after it, not before
bool tried_again_after(repo_world& x, std::chrono::seconds pause) {
  const auto before = x.refreshes;
  x.pass(pause - 1ms);
  if (x.refreshes != before)
    return false;
  x.pass(1ms);
  return x.refreshes == before + 1;
}

} // namespace

// protocol-coverage.md 2.5.6, 4: an #identity has a handle that the document of
// a directory that is behind does not have yet; no other event announces it
TEST(repo_retry, a_handle_that_an_event_promised_is_looked_up_until_confirmed) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.learn(unconfirmed(x));
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_FALSE(x.machine->idle());
  ASSERT_TRUE(tried_again_after(x, limits::second_look_pause));
  x.learn(unconfirmed(x));
  ASSERT_TRUE(tried_again_after(x, 2 * limits::second_look_pause));
  x.learn(confirmed(x));
  x.settle();
  EXPECT_EQ(x.row->handle, "alice.test");
  EXPECT_FALSE(x.row->identity_due);
  EXPECT_TRUE(x.machine->idle());
}

TEST(repo_retry, its_tries_are_counted) {
  repo_world x;
  x.sync();
  x.identity_event();
  for (uint32_t i = 0; i < limits::second_looks_max; ++i) {
    x.learn(unconfirmed(x));
    x.settle();
    EXPECT_EQ(x.row->identity_due, i < limits::second_looks_kept) << i;
    EXPECT_FALSE(x.machine->idle());
    EXPECT_TRUE(x.machine->idle(true) || x.row->identity_due);
    const auto pause = limits::second_look_pause * (1 << i);
    ASSERT_TRUE(tried_again_after(x, pause)) << i;
  }
  x.learn(unconfirmed(x));
  x.settle();
  EXPECT_TRUE(x.machine->idle()) << "the last answer stands";
  x.pass(limits::second_look_pause * (1 << limits::second_looks_max));
  EXPECT_EQ(x.refreshes, 1 + limits::second_looks_max);
}

// architecture.md I4: a kill between two tries
TEST(repo_retry, a_try_that_is_due_outlives_a_crash) {
  repo_world x;
  x.sync();
  x.identity_event();
  x.learn(unconfirmed(x));
  x.settle();
  x.clear();
  x.restart();
  x.learn(unconfirmed(x));
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(unconfirmed(x));
  EXPECT_TRUE(tried_again_after(x, limits::second_look_pause));
}

// protocol-coverage.md 2.5.6: otherwise lines of its host's listings would wait
// for the answer
TEST(repo_retry, a_look_up_that_a_failed_fetch_wants_is_made_until_it_succeeds) {
  repo_world x;
  x.add_known();
  x.start_fetch(1);
  x.clear();
  x.fail_fetch(1, fail(ec::verification_failed));
  ASSERT_EQ(x.refreshes, 1u);
  x.settle();
  x.learn(fail(ec::unreachable));
  x.run_fetch(2);
  ASSERT_EQ(x.row->status, repo_status::synced);
  EXPECT_TRUE(tried_again_after(x, limits::lookup_pause_min));
  x.learn(x.identity());
  x.pass(1h);
  EXPECT_EQ(x.refreshes, 2u);
}

// protocol-coverage.md 2.5.6: no try is used up while the directory is silent
// for an hour
TEST(repo_retry, a_look_up_that_fails_is_made_again_and_is_no_try) {
  repo_world x;
  x.sync();
  x.identity_event();
  for (uint32_t i = 0; i <= limits::second_looks_kept; ++i) {
    x.learn(unconfirmed(x));
    const auto pause = limits::second_look_pause * (1 << i);
    ASSERT_TRUE(tried_again_after(x, pause)) << i;
  }
  const auto last = limits::second_look_pause * (1 << limits::second_looks_kept);
  for (uint32_t i = 0; i < 2 * limits::second_looks_max; ++i) {
    x.learn(fail(ec::unreachable));
    x.settle();
    EXPECT_TRUE(x.machine->idle(true));
    EXPECT_FALSE(x.machine->idle());
    ASSERT_TRUE(tried_again_after(x, last)) << i;
  }
  x.learn(confirmed(x));
  x.settle();
  EXPECT_EQ(x.row->handle, "alice.test");
}

// protocol-coverage.md 2.5.6: each commit by a key that the document does not
// have yet causes a look-up of its own. Those answers are not second look-ups,
// or a few such commits would delay the next one by a minute.
TEST(repo_retry, many_refusals_put_a_second_look_off_no_longer_than_one) {
  repo_world x;
  x.sync();
  const test_repo next{2};
  for (size_t i = 1; i < limits::refresh_burst_max; ++i) {
    x.account.put("app.test.note/r" + std::to_string(i), make_record("r"));
    auto draft = x.account.draft();
    x.take(draft.encode(draft.sign(next.key())));
    ASSERT_EQ(x.refreshes, i);
    x.learn(x.identity());
    x.settle();
  }
  EXPECT_TRUE(tried_again_after(x, limits::second_look_pause));
  x.rotate_key(next);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
}

TEST(repo_retry, one_that_was_confirmed_is_not_given_up_at_once) {
  repo_world x;
  x.sync();
  x.learn(confirmed(x));
  x.learn(unconfirmed(x));
  EXPECT_TRUE(tried_again_after(x, limits::second_look_pause));
}

TEST(repo_retry, one_that_nobody_could_check_is_checked_again) {
  repo_world x;
  x.sync();
  x.learn_unchecked(unconfirmed(x));
  EXPECT_TRUE(tried_again_after(x, limits::second_look_pause));
}

/// Handles that belong to nobody are common, and cost one look-up each.
TEST(repo_retry, one_that_belongs_to_somebody_else_is_looked_up_once) {
  repo_world x;
  x.sync();
  x.learn(unconfirmed(x));
  x.settle();
  EXPECT_TRUE(x.machine->idle());
  x.pass(limits::second_look_pause);
  EXPECT_EQ(x.refreshes, 0u);
}

// architecture.md I4: between the document and the result for its handle
TEST(repo_retry, a_handle_that_is_being_checked_is_due_after_a_crash) {
  repo_world x;
  x.sync();
  x.learn(unconfirmed(x), false);
  x.settle();
  EXPECT_TRUE(x.row->identity_due);
  x.learn(unconfirmed(x));
  x.settle();
  EXPECT_FALSE(x.row->identity_due);
}

} // namespace weir::tests
