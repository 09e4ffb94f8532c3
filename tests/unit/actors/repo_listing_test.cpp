#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "atproto/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// Lines of a listing about a repo (protocol-coverage.md 9, 2.1.2).
namespace weir::tests {
namespace {

// CONS-25: an equal rev proves a quiet repo
// protocol-coverage.md 9.3, 9.5
TEST(repo_listings, an_equal_rev_raises_the_position_and_is_no_suspicion) {
  repo_world x;
  x.sync();
  x.board.put(quiet_upstream(pds_id, pds_origin, 2, 500));
  x.list(x.account.rev(), account_status::active, pds_id);
  x.settle();
  EXPECT_EQ(x.row->fcsr, (position{pds_id, 2, 500}));
  EXPECT_FALSE(x.timer);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 9: during the grace the event may be on its way
TEST(repo_listings, a_newer_rev_that_does_not_come_desyncs_after_the_grace) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.list(x.account.rev(), account_status::active, pds_id);
  EXPECT_FALSE(x.machine->idle());
  x.pass(x.settings->listing_grace - 1us);
  EXPECT_FALSE(x.in_flight);
  x.pass(1us);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_TRUE(x.machine->idle());
}

// A relay's listing does not count while the host's own stream is connected.
TEST(repo_listings, a_relays_word_on_a_rev_counts_without_the_hosts_stream) {
  for (const auto heard : {true, false}) {
    repo_world x;
    x.sync();
    if (!heard)
      x.board.put(away_upstream(pds_id, pds_origin));
    x.make_commit();
    x.list(x.account.rev());
    x.pass(x.settings->listing_grace);
    EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), heard ? 0u : 1u);
  }
}

// limits::rev_future_max, and a microsecond more: a commit with such a rev
// would not be accepted either
TEST(repo_listings, a_rev_of_the_future_is_no_word) {
  for (const auto more : {0us, 1us}) {
    repo_world x;
    x.sync();
    const auto most = x.now.wall + (limits::rev_future_max + more);
    x.list(atproto::tid::from_time(most, 0), account_status::active, pds_id);
    x.pass(x.settings->listing_grace);
    EXPECT_EQ(x.count_of(repo_counter::listing_mismatch),
              more == 0us ? 1u : 0u);
  }
}

namespace {

/// A fetch did not bring the listed rev, and the host was believed.
void disprove(repo_world& x, atproto::tid rev, uint32_t upstream) {
  x.list(rev, account_status::active, upstream);
  x.pass(x.settings->listing_grace);
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::desync);
  x.start_fetch(7);
  EXPECT_EQ(x.orders.back().least, rev);
  x.fail_fetch(7, fail(ec::unreachable));
  x.settle();
  ASSERT_EQ(x.row->status, repo_status::error);
  x.learn(x.identity());
  x.run_fetch(8);
  ASSERT_EQ(x.row->status, repo_status::synced);
}

/// The number of fetches caused by listings, after one more listing.
uint64_t mismatches_with(repo_world& x, atproto::tid rev, uint32_t upstream) {
  x.list(rev, account_status::active, upstream);
  x.pass(x.settings->listing_grace);
  return x.count_of(repo_counter::listing_mismatch);
}

} // namespace

// limits::listed_rev_tries_max: after that its commits are accepted again;
// limits:: disproved_rev_memory, and a microsecond less: the relay's line is
// ignored
TEST(repo_listings, a_rev_that_no_host_has_is_not_asked_for_again_and_again) {
  for (const auto less : {0us, 1us}) {
    repo_world x;
    x.sync();
    x.board.put(away_upstream(pds_id, pds_origin));
    const auto no_rev = atproto::tid::from_time(x.now.wall, 1);
    disprove(x, no_rev, relay_id);
    x.pass(limits::disproved_rev_memory - less);
    EXPECT_EQ(mismatches_with(x, no_rev, relay_id), less == 0us ? 2u : 1u);
  }
}

// The host's downloads may be behind its listing.
TEST(repo_listings, what_its_own_host_lists_is_asked_for_each_time) {
  repo_world x;
  x.sync();
  const auto later = atproto::tid::from_time(x.now.wall, 1);
  disprove(x, later, pds_id);
  EXPECT_EQ(mismatches_with(x, later, pds_id), 2u);
}

// protocol-coverage.md 2.1.2: the silence of a stream that is behind or
// disconnected proves nothing; a fetch would only increase its load
TEST(repo_listings, a_newer_rev_is_no_mismatch_while_the_stream_is_behind) {
  for (const auto connected : {true, false}) {
    repo_world x;
    x.sync();
    auto stream = quiet_upstream(pds_id, pds_origin, 1, 1);
    stream.quiet_since.reset();
    stream.connected = connected;
    stream.passed.micros = x.now.wall.micros - 1;
    x.board.put(stream);
    x.make_commit();
    x.list(x.account.rev(), account_status::active, pds_id);
    const auto listed = x.now.wall;
    x.pass(10 * x.settings->listing_grace);
    EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 0u);
    EXPECT_EQ(x.row->status, repo_status::synced);
    stream.connected = true;
    stream.passed = listed;
    x.board.put(stream);
    x.pass(x.settings->listing_grace);
    EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
  }
}

// limits::listing_wait_step: without a grace this must not be a busy loop
TEST(repo_listings, a_stream_that_is_behind_is_looked_at_in_steps) {
  repo_world x;
  auto hasty = *x.settings;
  hasty.listing_grace = 0s;
  x.set(hasty);
  x.sync();
  auto stream = quiet_upstream(pds_id, pds_origin, 1, 1);
  stream.quiet_since.reset();
  x.board.put(stream);
  x.make_commit();
  x.list(x.account.rev(), account_status::active, pds_id);
  x.pass(0us);
  ASSERT_TRUE(x.timer);
  EXPECT_EQ(*x.timer - x.now.steady, limits::listing_wait_step);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 0u);
}

// limits::listing_wait_max: however far it is behind
TEST(repo_listings, a_stream_that_never_catches_up_is_not_waited_for) {
  repo_world x;
  x.sync();
  auto stream = quiet_upstream(pds_id, pds_origin, 1, 1);
  stream.quiet_since.reset();
  x.board.put(stream);
  x.make_commit();
  x.list(x.account.rev(), account_status::active, pds_id);
  x.pass(limits::listing_wait_max - 1us);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 0u);
  x.pass(x.settings->listing_grace);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
}

// protocol-coverage.md 9
TEST(repo_listings, a_newer_rev_that_comes_in_time_is_no_mismatch) {
  repo_world x;
  x.sync();
  const auto frame = x.make_commit();
  x.list(x.account.rev());
  x.take(frame);
  x.settle();
  x.pass(x.settings->listing_grace);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 0u);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 9: an older line, or one without a rev, says nothing
TEST(repo_listings, an_older_or_missing_rev_says_nothing) {
  repo_world x;
  x.sync();
  x.list(atproto::tid{x.account.rev().value() - 1});
  x.list({});
  EXPECT_FALSE(x.timer);
  EXPECT_TRUE(x.machine->idle());
}

// A newly listed repo is tracked minutes later, when a document confirms it.
TEST(repo_listings, a_line_that_names_it_only_is_no_word_of_its_account) {
  repo_world x;
  x.sync();
  x.account_event(false, "takendown", relay_id);
  x.settle();
  ASSERT_EQ(x.row->account, account_status::takendown);
  x.list({});
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
}

// protocol-coverage.md 4.5, 9: the event of the status was lost
TEST(repo_listings, a_listed_status_counts_after_the_grace) {
  repo_world x;
  x.sync();
  x.list({}, account_status::takendown);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
}

// protocol-coverage.md 4.1, 4.5: host and relay said that it was taken down,
// the events that it is back were lost, and only one listing of each says so
TEST(repo_listings, the_line_of_another_upstream_is_not_forgotten) {
  repo_world x;
  x.sync();
  x.account_event(false, "takendown");
  x.account_event(false, "takendown", relay_id);
  x.learn(x.identity());
  x.settle();
  ASSERT_EQ(x.row->account, account_status::takendown);
  x.list(x.account.rev(), account_status::active, pds_id);
  x.list(x.account.rev(), account_status::active, relay_id);
  for (auto left = 10; left > 0 && x.machine->undecided_line() != nullptr;
       --left) {
    x.pass(limits::second_look_pause);
    x.learn(x.identity()); // Whether the account moved is looked up meanwhile.
    x.settle();
  }
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.1: the line of the relay is no older for the event of
// the host
TEST(repo_listings, the_event_of_another_upstream_leaves_the_line_open) {
  repo_world x;
  x.sync();
  x.account_event(false, "deleted");
  x.account_event(false, "takendown", relay_id);
  x.learn(x.identity());
  x.settle();
  ASSERT_EQ(x.row->account, account_status::deleted);
  x.list(x.account.rev(), account_status::active, relay_id);
  x.account_event(true);
  x.learn(x.identity());
  x.settle();
  ASSERT_EQ(x.row->account, account_status::takendown);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
}

// protocol-coverage.md 4.5: many new inactive accounts must not stay awake,
// each waiting for an event that is useless; one that migrates has its document
// first
TEST(repo_listings, a_status_listed_of_a_newcomer_counts_at_once) {
  repo_world x;
  x.add_known();
  x.list({}, account_status::deactivated, pds_id);
  EXPECT_FALSE(x.timer);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 4.5: the repo's host or another relay may know better
TEST(repo_listings, what_a_relay_lists_of_a_newcomer_counts_after_the_grace) {
  repo_world x;
  x.add_known();
  x.list({}, account_status::takendown);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::takendown);
}

TEST(repo_listings, a_newcomer_without_a_document_is_believed_after_the_grace) {
  repo_world x;
  x.add();
  x.list({}, account_status::deactivated, pds_id);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  x.learn(x.identity());
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// protocol-coverage.md 4: an event that comes after the listing outweighs it
TEST(repo_listings, an_account_event_outweighs_the_listing_before_it) {
  repo_world x;
  x.sync();
  x.list({}, account_status::takendown, pds_id);
  x.account_event(false, "deactivated");
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::deactivated);
}

// protocol-coverage.md 4.5: a repo whose fetch was refused as inactive is found
// again
// protocol-coverage.md 2.1.3
TEST(repo_listings, a_repo_listed_as_active_again_is_fetched) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.fail_fetch(7, fail(ec::account_inactive, "RepoDeactivated"),
               account_status::deactivated);
  x.learn(x.identity());
  x.settle();
  x.clear();
  x.list(x.account.rev(), account_status::active, pds_id);
  x.pass(x.settings->listing_grace);
  x.settle();
  EXPECT_EQ(x.row->account, account_status::active);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// CONS-25: a line about a repo out of sync has no effect on it
TEST(repo_listings, a_repo_that_is_to_be_fetched_is_not_suspected) {
  repo_world x;
  x.add_known();
  x.list(x.account.rev());
  EXPECT_FALSE(x.timer);
  EXPECT_TRUE(x.machine->idle());
}

// protocol-coverage.md 2.1.2: a PDS's listing counts for its own accounts only
TEST(repo_listings, the_listing_of_a_former_host_is_ignored) {
  repo_world x;
  x.sync();
  x.make_commit();
  x.list(x.account.rev(), account_status::deactivated, other_pds_id);
  EXPECT_FALSE(x.timer);
  EXPECT_TRUE(x.machine->idle());
  x.list(x.account.rev(), account_status::deactivated, pds_id);
  EXPECT_TRUE(x.timer);
}

// One timer has two reasons
TEST(repo_listings, a_suspicion_outlives_an_earlier_timer) {
  repo_world x;
  x.sync();
  test_repo stranger{2};
  x.make_commit();
  x.board.put(away_upstream(pds_id, pds_origin));
  x.list(x.account.rev());
  x.account.put("app.test.note/b", make_record("b"));
  auto draft = x.account.draft();
  x.take(draft.encode(draft.sign(stranger.key())));
  x.pass(limits::repo_wait_max);
  EXPECT_EQ(x.count_of(repo_counter::buffered), 1u);
  x.pass(x.settings->listing_grace);
  EXPECT_EQ(x.count_of(repo_counter::listing_mismatch), 1u);
}

} // namespace
} // namespace weir::tests
