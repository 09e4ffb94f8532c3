#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/identity_world.hpp"

namespace weir::tests::identities {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// protocol-coverage.md 8.3: cache, store, directory, in this order
TEST(identity_machine, the_store_is_read_before_the_directory_is_asked) {
  resolver x;
  x.ask(1);
  EXPECT_THAT(x.last.load, ElementsAre(alice));
  EXPECT_THAT(x.last.fetch, IsEmpty());
  x.loaded(std::nullopt);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
  x.document(doc_of());
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].to, 1u);
  EXPECT_TRUE(x.last.answers[0].last);
  EXPECT_EQ(x.last.answers[0].fact->signing_key, "zKey");
  EXPECT_EQ(x.last.answers[0].fact->pds, "https://pds.test");
  ASSERT_EQ(x.last.store.size(), 1u);
  EXPECT_EQ(x.last.store[0].second.fetched_at, x.wall.seconds());
  x.ask(2);
  EXPECT_EQ(x.last.answers.size(), 1u);
  EXPECT_THAT(x.last.fetch, IsEmpty());
}

// protocol-coverage.md 4: an #identity or a bad signature needs a new document
TEST(identity_machine, a_fresh_answer_passes_by_cache_and_store) {
  resolver x;
  x.ask(1, true);
  x.loaded(row_at(x, 1s));
  EXPECT_THAT(x.last.answers, IsEmpty());
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
  x.document(doc_of());
  x.ask(2, true);
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
}

// actors.md, Who is looked up next: coalescing
// protocol-coverage.md 4.0, 8.3
TEST(identity_machine, all_who_wait_for_one_did_share_a_look_up) {
  resolver x;
  x.ask(1);
  x.ask(2);
  EXPECT_THAT(x.last.load, IsEmpty());
  x.loaded(std::nullopt);
  x.ask(3);
  EXPECT_THAT(x.last.fetch, IsEmpty());
  x.document(doc_of());
  EXPECT_EQ(x.last.answers.size(), 3u);
  EXPECT_EQ(x.machine.waiting(), 0u);
}

// protocol-coverage.md 4: a request for a new document joins those in progress
TEST(identity_machine, a_fresh_ask_makes_the_one_that_is_loading_fresh) {
  resolver x;
  x.ask(1);
  x.ask(2, true);
  x.loaded(row_at(x, 1s));
  EXPECT_THAT(x.last.answers, IsEmpty());
  EXPECT_THAT(x.last.fetch, ElementsAre(alice));
}

// protocol-coverage.md 8.3: failures are kept for a while, at most five minutes
TEST(identity_machine, a_failure_is_remembered_for_a_while) {
  resolver x;
  x.fetch(1);
  std::chrono::microseconds kept = limits::lookup_pause_min;
  for (waiter_id who = 2; who < 24; who += 2) {
    x.document(fail(ec::not_found, "no such DID"));
    EXPECT_EQ(x.last.answers.at(0).fact.error().code, ec::not_found);
    EXPECT_THAT(x.last.store, IsEmpty());
    x.pass(kept - 1s);
    x.ask(who);
    ASSERT_EQ(x.last.answers.size(), 1u);
    EXPECT_EQ(x.last.answers[0].fact.error().code, ec::not_found);
    x.pass(1s);
    x.ask(who + 1);
    ASSERT_THAT(x.last.fetch, ElementsAre(alice));
    kept = std::min<std::chrono::microseconds>(2 * kept,
                                               limits::lookup_pause_max);
  }
  EXPECT_EQ(kept, limits::lookup_pause_max);
}

// protocol-coverage.md 8.2: an unreachable directory says nothing about the DID
TEST(identity_machine, an_unreachable_directory_is_not_remembered) {
  resolver x;
  x.fetch(1);
  x.document(fail(ec::unreachable));
  EXPECT_FALSE(x.last.answers.at(0).fact);
  x.ask(2);
  EXPECT_THAT(x.last.answers, IsEmpty());
}

// protocol-coverage.md 4.t7, 8: tombstoned, and back again
TEST(identity_machine, a_gone_did_is_an_answer_and_keeps_what_was_known) {
  resolver x;
  x.ask(1);
  x.loaded(row_at(x, 48h));
  x.document(fail(ec::not_found), true);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_TRUE(x.last.answers[0].fact->tombstoned);
  EXPECT_EQ(x.last.answers[0].fact->signing_key, "zOld");
  EXPECT_TRUE(x.last.store.at(0).second.tombstoned);
  x.ask(2, true);
  x.document(doc_of());
  EXPECT_FALSE(x.last.answers.at(0).fact->tombstoned);
}

// -- handles (protocol-coverage.md 8.8: both directions) ----------------------

// protocol-coverage.md 8.8: the document's claim alone proves nothing
// protocol-coverage.md 8.8, 8.9
TEST(identity_machine, a_handle_is_told_when_it_was_verified) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_FALSE(x.last.answers[0].last);
  EXPECT_EQ(x.last.answers[0].fact->handle, "");
  ASSERT_EQ(x.last.verify.size(), 1u);
  EXPECT_EQ(x.last.verify[0].handle, "alice.test");
  x.handle("alice.test", alice);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].to, 1u);
  EXPECT_TRUE(x.last.answers[0].last);
  EXPECT_EQ(x.last.answers[0].fact->handle, "alice.test");
  EXPECT_EQ(x.last.store.at(0).second.handle, "alice.test");
}

// protocol-coverage.md 8.8
TEST(identity_machine, who_asks_while_a_handle_is_checked_hears_the_outcome) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.ask(2);
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].to, 2u);
  EXPECT_FALSE(x.last.answers[0].last);
  x.handle("alice.test", alice);
  ASSERT_EQ(x.last.answers.size(), 2u);
  EXPECT_EQ(x.last.answers[1].to, 2u);
  EXPECT_TRUE(x.last.answers[1].last);
  EXPECT_EQ(x.last.answers[1].fact->handle, "alice.test");
}

// protocol-coverage.md 8.8
TEST(identity_machine, a_handle_of_someone_else_is_not_taken) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("bob.test"));
  x.handle("bob.test", repo_of(2));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact->handle, "");
  EXPECT_TRUE(x.last.answers[0].last);
  EXPECT_EQ(x.last.store.at(0).second.handle, "");
}

// protocol-coverage.md 8.8, 8.9; architecture.md I4: killed between document
// and handle
TEST(identity_machine,
     a_document_is_stale_on_disk_until_its_handle_was_checked) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  const auto left = x.last.store.at(0).second;
  EXPECT_EQ(left.fetched_at, 0);
  EXPECT_EQ(left.signing_key, "zKey");
  x.handle("alice.test", alice);
  EXPECT_EQ(x.last.store.at(0).second.fetched_at, x.wall.seconds());

  resolver next; // The state that a crash between the two leaves.
  next.ask(1);
  next.loaded(left);
  EXPECT_FALSE(next.last.answers.at(0).last);
  EXPECT_THAT(next.last.fetch, ElementsAre(alice));
  next.document(doc_of("alice.test"));
  next.handle("alice.test", alice);
  EXPECT_EQ(next.last.answers.at(0).fact->handle, "alice.test");
}

// protocol-coverage.md 8.8: a verified handle survives an outage, but nothing
// else
// protocol-coverage.md 8.7
TEST(identity_machine, a_verified_handle_is_lost_by_an_answer_only) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.handle("alice.test", alice);
  x.ask(2, true);
  x.document(doc_of("alice.test"));
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "alice.test");
  x.handle("alice.test", fail(ec::unreachable));
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "alice.test");
  EXPECT_TRUE(x.last.answers.at(0).last);
  x.ask(3, true);
  x.document(doc_of("alice.test"));
  x.handle("alice.test", fail(ec::not_found));
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "");
}

// protocol-coverage.md 8.8: another claim, or none any more
// protocol-coverage.md 8.9
TEST(identity_machine, an_answer_about_an_old_claim_changes_nothing) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.handle("alice.test", alice);
  x.ask(2, true);
  x.document(doc_of());
  EXPECT_TRUE(x.last.answers.at(0).last);
  EXPECT_EQ(x.last.answers[0].fact->handle, "");
  x.handle("alice.test", alice);
  EXPECT_THAT(x.last.answers, IsEmpty());
  EXPECT_THAT(x.last.store, IsEmpty());
}

// protocol-coverage.md 8.8: a new claim that cannot be verified does not keep
// the old handle
TEST(identity_machine, a_changed_claim_does_not_keep_the_old_handle) {
  resolver x;
  x.fetch(1);
  x.document(doc_of("alice.test"));
  x.handle("alice.test", alice);
  x.ask(2, true);
  x.document(doc_of("new.test"));
  x.handle("new.test", fail(ec::unreachable));
  EXPECT_EQ(x.last.answers.at(0).fact->handle, "");
}

// protocol-coverage.md 2.5.6: a failed verification decides nothing, and the
// asker learns that
TEST(identity_machine, a_handle_that_nobody_could_check_is_told_apart) {
  for (const auto why : {ec::unreachable, ec::not_found}) {
    resolver x;
    x.fetch(1);
    x.document(doc_of("alice.test"));
    x.handle("alice.test", fail(why));
    EXPECT_EQ(x.last.answers.at(0).fact->handle, "");
    EXPECT_EQ(x.last.answers.at(0).checked, why == ec::not_found);
  }
}

// -- bounds (actors.md, Who is looked up next) --------------------------------

// actors.md, Who is looked up next: `per_second` look-ups, then one for each
// new token
// protocol-coverage.md 2.5.9
TEST(identity_machine, the_directory_is_asked_within_the_budget) {
  identity_options options;
  options.per_second = 2;
  resolver x{options};
  std::vector<size_t> fetched;
  for (int i = 1; i <= 4; ++i) {
    x.fetch(1, repo_of(i));
    fetched.push_back(x.last.fetch.size());
  }
  EXPECT_THAT(fetched, ElementsAre(1, 1, 0, 0));
  ASSERT_TRUE(x.last.timer);
  EXPECT_LE(*x.last.timer - x.now, 500ms + 1us);
  x.pass(*x.last.timer - x.now);
  x.last = x.machine.on_timer(x.now);
  EXPECT_THAT(x.last.fetch, ElementsAre(repo_of(3)));
  x.pass(60s); // Saved-up time is worth a second at most.
  x.last = x.machine.on_timer(x.now);
  EXPECT_THAT(x.last.fetch, ElementsAre(repo_of(4)));
}

// actors.md, Who is looked up next: the smallest value of the option
TEST(identity_machine, a_budget_below_one_a_second_is_slow_but_not_dead) {
  identity_options options;
  options.per_second = 0.1;
  resolver x{options};
  x.fetch(1, repo_of(1));
  EXPECT_EQ(x.last.fetch.size(), 1u);
  x.fetch(1, repo_of(2));
  EXPECT_THAT(x.last.fetch, IsEmpty());
  x.pass(10s + 1us);
  x.last = x.machine.on_timer(x.now);
  EXPECT_THAT(x.last.fetch, ElementsAre(repo_of(2)));
}

// actors.md, Who is looked up next: `in_flight_max`, and one more
TEST(identity_machine, look_ups_on_the_wire_are_bounded) {
  identity_options options;
  options.in_flight_max = 2;
  resolver x{options};
  for (int i = 1; i <= 3; ++i)
    x.fetch(1, repo_of(i));
  EXPECT_THAT(x.last.fetch, IsEmpty());
  EXPECT_FALSE(x.last.timer); // An answer wakes it.
  x.document(doc_of(), false, repo_of(1));
  EXPECT_THAT(x.last.fetch, ElementsAre(repo_of(3)));
}

// hostile-inputs.md 2.1.33: `waiting_max`, and one more
TEST(identity_machine, one_did_too_many_is_refused) {
  identity_options options;
  options.waiting_max = 2;
  resolver x{options};
  x.ask(1, false, repo_of(1));
  x.ask(2, false, repo_of(2));
  EXPECT_THAT(x.last.answers, IsEmpty());
  x.ask(3, false, repo_of(3));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  EXPECT_TRUE(x.last.answers[0].last);
  x.ask(4, false, repo_of(2));
  EXPECT_THAT(x.last.answers, IsEmpty());
}

// limits::web_part of `waiting_max`, at least one, and one more
TEST(identity_machine, hosts_that_hang_shut_out_no_name_of_the_directory) {
  identity_options options;
  options.waiting_max = 2 * limits::web_part;
  resolver x{options};
  for (const auto i : {1, 2, 3})
    x.fetch(1, web_repo(i));
  ASSERT_EQ(x.last.answers.size(), 1u);
  EXPECT_EQ(x.last.answers[0].repo, web_repo(3));
  EXPECT_EQ(x.last.answers[0].fact.error().code, ec::limit_reached);
  for (int i = 1; i <= static_cast<int>(options.waiting_max); ++i) {
    x.fetch(1, repo_of(i));
    EXPECT_THAT(x.last.answers, IsEmpty()) << i;
  }
  x.fetch(1, repo_of(100));
  EXPECT_EQ(x.last.answers.size(), 1u);
  x.document(fail(ec::unreachable, "cut off"), false, web_repo(1));
  x.fetch(1, web_repo(4));
  EXPECT_THAT(x.last.answers, IsEmpty()) << "there is room again";
}

// architecture.md, When memory runs short: `cached_max`, and one more; the
// least recently used one goes
TEST(identity_machine, the_cache_forgets_what_was_not_used_for_longest) {
  identity_options options;
  options.cached_max = 2;
  resolver x{options};
  for (const auto i : {1, 2}) {
    x.fetch(1, repo_of(i));
    x.document(doc_of(), false, repo_of(i));
  }
  EXPECT_EQ(x.machine.cached(), 2u);
  x.ask(1, false, repo_of(1));
  x.fetch(1, repo_of(3));
  x.document(doc_of(), false, repo_of(3));
  EXPECT_EQ(x.machine.cached(), 2u);
  x.ask(1, false, repo_of(1));
  EXPECT_EQ(x.last.answers.size(), 1u);
  x.ask(1, false, repo_of(2));
  EXPECT_THAT(x.last.load, ElementsAre(repo_of(2)));
}

} // namespace
} // namespace weir::tests::identities
