#include "actors/support/limits.hpp"
#include "tests/unit/actors/identity_world.hpp"

namespace weir::tests::identities {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// protocol-coverage.md 8.3: after an outage of a day no asker waits for the
// directory
TEST(identity_machine, a_stale_answer_comes_at_once_and_the_new_one_after_it) {
  resolver x;
  x.fetch(1);
  x.document(doc_of());
  x.pass(25h);
  for (const waiter_id who : {2, 3}) {
    x.ask(who);
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].to, who);
    EXPECT_FALSE(x.last.answers[0].last);
    EXPECT_EQ(x.last.fetch.size(), who == 2 ? 1u : 0u);
  }
  auto doc = doc_of();
  doc.signing_key = "zNew";
  x.document(doc);
  ASSERT_EQ(x.last.answers.size(), 2u);
  EXPECT_EQ(x.last.answers[1].fact->signing_key, "zNew");
  EXPECT_TRUE(x.last.answers[1].last);
}

// ADR 1, 8: every queue is bounded
TEST(identity_machine, one_who_asks_again_and_again_waits_once) {
  resolver x;
  for (int i = 0; i < 5; ++i)
    x.ask(1, i % 2 == 0);
  x.loaded(std::nullopt);
  x.document(doc_of("alice.test"));
  EXPECT_EQ(x.last.answers.size(), 1u);
  for (int i = 0; i < 5; ++i) {
    x.ask(1, true);
    x.document(doc_of("alice.test"));
    EXPECT_EQ(x.last.answers.size(), 1u);
    EXPECT_FALSE(x.last.answers[0].last);
  }
  for (int i = 0; i <= 5; ++i) { // The handle of each document was verified.
    x.handle("alice.test", alice);
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].last, i == 5);
  }
}

// protocol-coverage.md 8.8: a document came while an older handle was being
// verified
TEST(identity_machine, who_waits_for_a_new_handle_hears_of_it) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("old.test"));
  x.ask(1, true);
  x.document(doc_of("new.test"));
  EXPECT_FALSE(x.last.answers.at(0).last);
  x.handle("old.test", alice);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact->handle, "");
  EXPECT_FALSE(x.last.answers[0].last);
  EXPECT_THAT(x.last.store, IsEmpty());
  x.handle("new.test", alice);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact->handle, "new.test");
  EXPECT_TRUE(x.last.answers[0].last);
  x.handle("new.test", repo_of(2)); // Nobody asked for this one.
  EXPECT_THAT(x.last.answers, IsEmpty());
}

// architecture.md, When memory runs short: `cached_max`
TEST(identity_machine,
     a_row_that_was_forgotten_meanwhile_is_to_be_asked_again) {
  identity_options options;
  options.cached_max = 1;
  resolver x{options};
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.fetch(2, repo_of(2));
  x.document(doc_of(), false, repo_of(2));
  x.handle("alice.test", alice);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::unreachable);
  EXPECT_TRUE(x.last.answers[0].last);
}

// An answer is the last one only if the asker waits for no other
TEST(identity_machine, an_asker_is_not_let_go_while_it_waits_for_more) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.ask(1, true); // The handle is still being verified.
  x.handle("alice.test", repo_of(2));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_FALSE(x.last.answers[0].last);
  x.document(doc_of());
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_TRUE(x.last.answers[0].last);
}

// hostile-inputs.md 2.1.33: `waiting_max`: a known answer is given nevertheless
TEST(identity_machine, a_full_queue_still_tells_what_is_known) {
  identity_options options;
  options.waiting_max = 1;
  resolver x{options};
  x.fetch(1);
  x.document(doc_of());
  x.pass(25h);
  x.fetch(2, repo_of(2));
  x.ask(3);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_TRUE(x.last.answers[0].fact);
  EXPECT_TRUE(x.last.answers[0].last);
}

// hostile-inputs.md 2.1.25: `waiting_max` DIDs that do not exist
TEST(identity_machine, a_full_queue_does_not_shut_out_what_is_stored) {
  for (const auto age : {1h, 25h}) {
    identity_options options;
    options.waiting_max = 1;
    resolver x{options};
    x.fetch(1, repo_of(2));
    x.ask(2);
    EXPECT_EQ(x.last.load.size(), 1u);
    x.loaded(row_at(x, age));
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_TRUE(x.last.answers[0].fact);
    EXPECT_TRUE(x.last.answers[0].last);
    x.ask(3, false, repo_of(3));
    x.loaded(std::nullopt, repo_of(3));
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
    EXPECT_TRUE(x.last.answers[0].last);
    EXPECT_EQ(x.machine.waiting(), 1u);
  }
}

// protocol-coverage.md 8.3: 24 hours, and a second more; the stale answer is
// given while it is refreshed
TEST(identity_machine, a_stored_answer_is_good_for_a_day) {
  for (const auto age : {24h - 1s, 24h + 0s}) {
    resolver x;
    x.ask(1);
    x.loaded(row_at(x, age));
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].fact->signing_key, "zOld");
    EXPECT_EQ(x.last.answers[0].last, age < 24h);
    EXPECT_EQ(x.last.fetch.size(), age < 24h ? 0u : 1u);
  }
}

// protocol-coverage.md 8.3: a clock that was ahead does not keep a document
// current for years
TEST(identity_machine, an_answer_of_a_clock_that_was_ahead_is_old) {
  for (const auto age : {0s, -1s}) {
    resolver x;
    x.ask(1);
    x.loaded(row_at(x, age));
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.fetch.size(), age < 0s ? 1u : 0u);
  }
  resolver y;
  y.wall = y.wall + 1h;
  y.fetch(1);
  y.document(fail(ec::not_found));
  y.wall = y.wall + -1h;
  y.now = y.now + limits::lookup_pause_min;
  y.ask(2);
  EXPECT_THAT(y.last.answers, IsEmpty()) << "nor no document";
  EXPECT_THAT(y.last.fetch, ElementsAre(alice));
}

// protocol-coverage.md 8.3: age counts from the fetch, not from the read
TEST(identity_machine, reading_a_stored_answer_does_not_make_it_younger) {
  resolver x;
  x.ask(1);
  x.loaded(row_at(x, 23h));
  x.pass(1h);
  x.ask(2);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
}

// protocol-coverage.md 8.3: a stale answer is better than none, unless a new
// one was requested
TEST(identity_machine, a_stale_answer_serves_while_the_directory_is_away) {
  for (const auto fresh : {false, true}) {
    resolver x;
    x.ask(1, fresh);
    x.loaded(row_at(x, 48h));
    x.document(fail(ec::unreachable));
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].fact.has_value(), !fresh);
    EXPECT_THAT(x.last.store, IsEmpty());
  }
}

} // namespace
} // namespace weir::tests::identities
