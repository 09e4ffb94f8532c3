#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// Statements about an account that cannot be accepted at once: from a host
/// that no document names yet, from a former host, or in a repeated frame.
/// Meanwhile they are only kept in memory, and given up when memory is short.
namespace weir::tests {
namespace {

using testing::IsEmpty;

constexpr auto wait_max = limits::repo_wait_max;
constexpr auto burst = limits::refresh_burst_max;

/// A synced repo after a restart: its identity is not known.
struct woken_repo : repo_world {
  woken_repo() {
    sync();
    restart();
  }

  uint64_t send_account(bool active, std::string_view status,
                        uint32_t upstream = pds_id) {
    const auto frame = account_frame(1, active, status, account.did());
    return take({frame.view().begin(), frame.view().end()}, upstream);
  }
};

// protocol-coverage.md 4: it is decided when the identity comes;
// actors.md, A document that may be old: its stream does not wait for that
TEST(repo_account_wait, an_account_event_outlives_a_slow_identity) {
  woken_repo x;
  x.take(x.make_commit(), pds_id);
  x.send_account(false, "suspended");
  x.send_account(false, "takendown");
  x.pass(wait_max);
  EXPECT_THAT(x.done, IsEmpty());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.done.size(), 3u);
  EXPECT_FALSE(x.machine->idle());
  x.learn(x.identity()); // The stored identity.
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
  EXPECT_EQ(x.done.size(), 3u);
  EXPECT_TRUE(x.machine->idle(true)) << "a second look is to come";
}

// protocol-coverage.md 4.1: a former host's statement does not count
TEST(repo_account_wait, a_held_event_counts_from_the_current_host_only) {
  woken_repo x;
  const auto seq = x.send_account(false, "takendown", other_pds_id);
  x.pass(wait_max);
  x.learn(x.identity());
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_TRUE(x.finished(seq));
  EXPECT_TRUE(x.machine->idle());
}

// An inactive account is not fetched, so nothing else requests its identity
TEST(repo_account_wait, a_held_event_goes_on_asking_for_the_identity) {
  woken_repo x;
  x.send_account(false, "takendown");
  x.pass(wait_max);
  x.settle();
  x.learn(fail(ec::unreachable, "no directory"));
  x.pass(limits::lookup_pause_min - 1us);
  EXPECT_EQ(x.refreshes, 0u);
  x.pass(1us);
  EXPECT_EQ(x.refreshes, 1u);
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
  EXPECT_EQ(x.done.size(), 1u);
}

// architecture.md, When memory runs short: held events do not fill memory; a
// listing shows the state later
TEST(repo_account_wait, a_held_event_is_given_up_when_memory_is_short) {
  woken_repo x;
  x.send_account(false, "takendown");
  x.pass(wait_max);
  x.settle();
  x.learn(fail(ec::unreachable, "no directory"));
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
  EXPECT_EQ(x.row->account, account_status::active);
}

// A DID that does not exist has no host to speak for it
TEST(repo_account_wait, a_held_event_of_no_did_is_dropped) {
  woken_repo x;
  const auto seq = x.send_account(false, "takendown");
  x.pass(wait_max);
  x.settle();
  for (int i = 0; i < 2; ++i)
    x.learn(fail(ec::not_found, "no such DID"));
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 4.1: a relay's statement needs no identity, whatever its
// place
TEST(repo_account_wait, a_relay_is_heard_when_the_frames_before_are_given_up) {
  woken_repo x;
  const auto commit = x.take(x.make_commit());
  const auto seq = x.send_account(false, "takendown", relay_id);
  EXPECT_EQ(x.machine->row().account, account_status::active);
  x.pass(wait_max);
  x.settle();
  EXPECT_TRUE(x.finished(commit));
  EXPECT_TRUE(x.finished(seq));
  EXPECT_EQ(x.row->account, account_status::takendown);
}

// protocol-coverage.md 4: a later statement outweighs a held one
TEST(repo_account_wait, a_held_event_is_overtaken_by_a_later_one) {
  woken_repo x;
  const auto first = x.send_account(false, "takendown");
  x.pass(wait_max);
  const auto second = x.send_account(false, "suspended");
  x.pass(wait_max);
  x.settle();
  EXPECT_TRUE(x.finished(first));
  EXPECT_TRUE(x.finished(second));
  x.learn(x.identity());
  x.learn(x.identity());
  x.settle();
  EXPECT_EQ(x.row->account, account_status::suspended);
}

// -- wishes when memory is short ----------------------------------------------

// hostile-inputs.md 2.1.33: optional refreshes do not fill memory
TEST(repo_identity, a_wish_to_refresh_is_left_to_the_row_when_memory_is_short) {
  repo_world x;
  x.sync();
  for (size_t i = 0; i <= burst; ++i) {
    x.identity_event();
    EXPECT_FALSE(x.machine->idle(true)) << "nothing is durable";
    x.learn(x.identity());
    x.settle();
  }
  EXPECT_FALSE(x.machine->idle());
  EXPECT_TRUE(x.machine->idle(true));
  EXPECT_TRUE(x.row->identity_due);
  EXPECT_EQ(x.done.size(), burst + 1);
}

// -- what getRepo says (protocol-coverage.md 5) -------------------------------

/// A host refuses the fetch, and its document is an hour old.
struct refused_repo : repo_world {
  refused_repo() {
    sync();
    pass(1h);
    make_commit(); // This commit is lost.
    take(make_commit());
    start_fetch(7);
    clear();
    fail_fetch(7, fail(ec::account_inactive, "RepoNotFound"),
               account_status::deleted);
  }
};

// protocol-coverage.md 4.5: one answer erases nothing; a host that is being
// restored knows no accounts either
TEST(repo_account_wait, a_host_that_knows_nothing_of_a_repo_is_asked_again) {
  refused_repo x;
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_FALSE(x.write().erase);
  EXPECT_THAT(x.questions, IsEmpty());
  x.learn(x.identity());
  ASSERT_EQ(x.questions.size(), 1u);
  EXPECT_EQ(x.questions[0].pds, pds_origin);
  EXPECT_TRUE(x.questions[0].not_found);
  x.answer(account_status::active);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  // It is fetched again when its retry is due.
  EXPECT_EQ(x.row->status, repo_status::error);
}

// limits::account_question_pause
TEST(repo_account_wait, a_question_without_room_is_asked_again) {
  refused_repo x;
  x.learn(x.identity());
  ASSERT_EQ(x.questions.size(), 1u);
  x.settle();
  x.put_off();
  EXPECT_EQ(x.questions.size(), 1u);
  EXPECT_FALSE(x.machine->idle(false)) << "or it would forget";
  x.pass(limits::account_question_pause - 1us);
  EXPECT_EQ(x.questions.size(), 1u);
  x.pass(1us);
  ASSERT_EQ(x.questions.size(), 2u);
  EXPECT_TRUE(x.questions[1].not_found);
  EXPECT_FALSE(x.questions[1].urgent);
  x.pass(limits::account_question_pause);
  EXPECT_EQ(x.questions.size(), 2u) << "it found room";
}

TEST(repo_account_wait, who_asks_by_hand_does_not_wait_for_room) {
  repo_world x;
  x.sync();
  x.account_event(false, "deactivated");
  x.settle();
  for (size_t asked = 1; asked <= 2; ++asked) {
    EXPECT_TRUE(x.resync());
    ASSERT_EQ(x.questions.size(), asked);
    EXPECT_TRUE(x.questions.back().urgent);
    x.put_off();
  }
  EXPECT_EQ(x.questions.size(), 2u);
  x.pass(limits::account_question_pause);
  ASSERT_EQ(x.questions.size(), 3u);
  EXPECT_TRUE(x.questions.back().urgent);
}

// protocol-coverage.md 5: a new document shows the current host
// protocol-coverage.md 4.5
TEST(repo_account_wait, a_host_that_lost_a_repo_is_believed_when_confirmed) {
  refused_repo x;
  x.learn(x.identity());
  x.settle();
  x.pass(limits::gone_grace_range.standard);
  x.settle();
  x.clear();
  x.answer(account_status::deleted);
  EXPECT_EQ(x.refreshes, 1u);
  EXPECT_EQ(x.machine->row().account, account_status::active);
  x.learn(x.identity());
  EXPECT_TRUE(x.write().erase);
  EXPECT_EQ(x.row->account, account_status::deleted);
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_EQ(x.row->retry_count, 0u);
  EXPECT_THAT(x.wishes, IsEmpty());
}

// protocol-coverage.md 4.6, 5: after a migration the old host does not have it
// protocol-coverage.md 4.5
TEST(repo_account_wait, a_former_host_that_lost_a_repo_proves_nothing) {
  for (const auto twice : {false, true}) {
    refused_repo x;
    if (twice) {
      x.learn(x.identity());
      x.pass(limits::gone_grace_range.standard);
      x.answer(account_status::deleted);
    }
    x.settle();
    x.clear();
    auto moved = x.identity();
    moved.pds = other_origin;
    x.learn(moved);
    x.settle();
    EXPECT_EQ(x.row->account, account_status::active);
    EXPECT_EQ(x.questions.size(), twice ? 1u : 0u);
    for (const auto& each : x.questions)
      EXPECT_EQ(each.pds, other_origin);
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].not_before, 0);
    x.run_fetch(8);
    EXPECT_EQ(x.orders.back().pds, other_origin);
    EXPECT_EQ(x.row->status, repo_status::synced);
  }
}

// protocol-coverage.md 5: the answer is older than the refusal, or there is
// none
TEST(repo_account_wait, an_old_document_confirms_nothing) {
  refused_repo x;
  x.learn(x.identity(), false, x.asked - 1);
  // It is the known one, while another one comes.
  x.learn(x.identity(), false, {}, false);
  x.learn(fail(ec::unreachable, "no directory"));
  x.settle();
  EXPECT_THAT(x.questions, IsEmpty());
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.wishes.back().not_before, x.now.wall.seconds() + 60);
}

// protocol-coverage.md 5: the other refusals give the account's state, and its
// records are kept: they count at once if the document is new
TEST(repo_account_wait, a_refused_fetch_waits_for_a_new_document) {
  for (const auto moves : {false, true}) {
    repo_world x;
    x.sync();
    x.pass(1h);
    x.make_commit(); // This commit is lost.
    x.take(x.make_commit());
    x.start_fetch(7);
    x.clear();
    x.fail_fetch(7, fail(ec::account_inactive, "RepoDeactivated"),
                 account_status::deactivated);
    EXPECT_EQ(x.refreshes, 1u);
    EXPECT_EQ(x.machine->row().account, account_status::active);
    auto fact = x.identity();
    if (moves)
      fact.pds = other_origin;
    x.learn(fact);
    x.settle();
    EXPECT_EQ(x.row->account == account_status::active, moves);
    EXPECT_EQ(x.wishes.back().not_before == 0, moves);
    EXPECT_THAT(x.questions, IsEmpty());
  }
}

// `limits::identity_current`, and a second more: up to this age a document
// counts as current
TEST(repo_account_wait, a_young_document_names_the_current_host) {
  for (const auto age :
       {limits::identity_current, limits::identity_current + 1s}) {
    repo_world x;
    x.add_known();
    x.pass(age);
    x.answer(account_status::deleted);
    x.settle();
    EXPECT_EQ(x.row->account == account_status::deleted,
              age == limits::identity_current);
  }
}

// -- frames that come again ---------------------------------------------------

// protocol-coverage.md 4: the result of a later event stays, even after a crash
TEST(repo_account_wait, an_account_event_that_comes_again_is_ignored) {
  for (const auto crash : {false, true}) {
    repo_world x;
    x.sync();
    const auto frame = account_frame(1, false, "deleted", x.account.did());
    const auto away
      = x.stamp({frame.view().begin(), frame.view().end()}, pds_id);
    x.perform_frames({away});
    x.settle();
    x.account_event(true);
    x.settle();
    x.run_fetch(2);
    EXPECT_EQ(x.row->words.host_at, (position{pds_id, 1, away.at.seq + 1}));
    if (crash)
      x.restart();
    x.clear();
    x.perform_frames({away});
    EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
    EXPECT_TRUE(x.finished(away.at.seq));
    EXPECT_EQ(x.machine->row().account, account_status::active);
    EXPECT_EQ(x.machine->row().status, repo_status::synced);
  }
}

// An event that waited for a frame before it was not compared when it was held.
TEST(repo_account_wait, an_event_that_came_again_and_was_held_is_ignored) {
  repo_world x;
  x.sync();
  const auto frame = account_frame(1, false, "deleted", x.account.did());
  const auto away = x.stamp({frame.view().begin(), frame.view().end()}, pds_id);
  x.perform_frames({away});
  x.settle();
  x.account_event(true, {}, pds_id);
  x.settle();
  x.run_fetch(2);
  x.restart();
  x.clear();
  x.take(x.make_commit());
  x.perform_frames({away});
  x.pass(wait_max);
  x.learn(x.identity());
  EXPECT_EQ(x.count_of(repo_counter::replayed), 1u);
  EXPECT_EQ(x.machine->row().account, account_status::active);
}

// ADR 1, 5: cursors of two upstreams cannot be compared
TEST(repo_account_wait, a_lower_cursor_of_another_upstream_or_epoch_counts) {
  repo_world x;
  x.sync();
  for (int i = 0; i < 6; ++i)
    x.account_event(i % 2 == 0, "takendown", relay_id);
  x.settle();
  x.account_event(false, "suspended", pds_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
  x.board.put(quiet_upstream(relay_id, "https://relay.test", 2, 1));
  auto again = x.stamp({}, relay_id);
  const auto frame = account_frame(1, true, "", x.account.did());
  again.bytes = frame;
  again.kind = atproto::frame_kind::account;
  again.at.seq = 1;
  x.perform_frames({again});
  x.settle();
  EXPECT_EQ(x.row->account, account_status::suspended);
}

} // namespace
} // namespace weir::tests
