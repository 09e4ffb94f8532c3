#include "actors/repo/limits.hpp"
#include "actors/support/limits.hpp"
#include "tests/unit/actors/repo_world.hpp"

/// Dropped events, and fetches that do not bring the content for which they
/// were made.
namespace weir::tests {
namespace {

using testing::IsEmpty;

// -- gaps (completeness.md, The terms) ----------------------------------------

// CONS-11; completeness.md, The terms: an open gap leads to a fetch
TEST(repo_gaps, a_frame_that_does_not_decode_is_fetched) {
  repo_world x;
  x.sync();
  auto frame = x.stamp(x.make_commit(), pds_id);
  frame.bytes = shared_bytes::copy_of(bytes{1, 2, 3});
  x.perform_frames({frame});
  EXPECT_EQ(x.count_of(repo_counter::bad_shape), 1u);
  EXPECT_FALSE(x.finished(frame.at.seq));
  x.settle();
  EXPECT_TRUE(x.finished(frame.at.seq));
  EXPECT_EQ(x.row->status, repo_status::desync);
  ASSERT_EQ(x.wishes.size(), 1u);
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
  EXPECT_EQ(x.chain->rev, x.account.rev());
}

// Unless its stream does not account for the repo
TEST(repo_gaps, garbage_of_a_foreign_host_is_dropped) {
  repo_world x;
  x.sync();
  auto frame = x.stamp(x.make_commit(), other_pds_id);
  frame.bytes = shared_bytes::copy_of(bytes{1, 2, 3});
  x.perform_frames({frame});
  EXPECT_TRUE(x.finished(frame.at.seq));
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
  EXPECT_FALSE(x.machine->row().gap);
}

/// Two relays and the host. The first relay is disconnected.
struct twice_relayed : repo_world {
  static constexpr uint32_t second_id = 4;

  twice_relayed() {
    auto first = away_upstream(relay_id, "https://relay.test");
    first.relay = true;
    board.put(first);
    auto second = quiet_upstream(second_id, "https://second.test", 1, 1);
    second.relay = true;
    board.put(second);
  }

  void lose_host() { board.put(away_upstream(pds_id, pds_origin)); }

  /// The second relay passes on a malformed frame.
  void take_garbage() {
    auto frame = stamp(account.sync_frame(1), second_id);
    frame.relay = true;
    frame.bytes = shared_bytes::copy_of(bytes{1, 2, 3});
    perform_frames({frame});
    settle();
  }
};

// CONS-11: the first relay may be dead, and the host's own stream, too; then
// only the other relay reports a commit
TEST(repo_gaps, garbage_of_any_relay_is_fetched_while_the_host_is_away) {
  twice_relayed x;
  x.sync();
  x.take_garbage();
  EXPECT_EQ(x.row->status, repo_status::synced) << "the host is heard";
  EXPECT_FALSE(x.machine->row().gap);
  EXPECT_TRUE(x.wishes.empty());
  x.lose_host();
  x.take_garbage();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
  x.run_fetch(2);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_FALSE(x.row->gap);
}

// limits::gap_pause_max: for a day a relay sends a malformed frame with the
// repo's name every ten seconds
TEST(repo_gaps, a_relay_that_sends_garbage_for_a_day_costs_few_fetches) {
  twice_relayed x;
  x.sync();
  x.lose_host();
  uint64_t fetches = 0;
  for (std::chrono::seconds left = 24h; left > 0s; left -= 10s) {
    x.clear();
    x.take_garbage();
    x.pass(10s);
    x.settle();
    if (!x.wishes.empty())
      x.run_fetch(2 + fetches++);
  }
  EXPECT_GE(fetches, 24h / limits::gap_pause_max);
  EXPECT_LE(fetches, 24h / limits::gap_pause_max + 7) << "and as it began";
}

// Malformed frames cause few fetches; a commit that follows on the copy shows
// that nothing is missing
TEST(repo_gaps, a_second_gap_waits_and_the_next_commit_closes_it) {
  for (const auto follows : {true, false}) {
    repo_world x;
    x.sync();
    auto frame = x.stamp(x.account.sync_frame(1), pds_id);
    frame.bytes = shared_bytes::copy_of(bytes{1, 2, 3});
    x.perform_frames({frame});
    x.settle();
    x.run_fetch(2);
    x.clear();
    x.perform_frames({frame});
    x.settle();
    EXPECT_EQ(x.row->status, repo_status::synced);
    EXPECT_TRUE(x.row->gap);
    EXPECT_FALSE(x.machine->idle());
    if (follows) {
      x.take(x.make_commit());
      x.settle();
      EXPECT_FALSE(x.row->gap);
      EXPECT_TRUE(x.machine->idle());
    }
    x.pass(limits::gap_pause_min);
    x.settle();
    EXPECT_EQ(x.wishes.size(), follows ? 0u : 1u);
  }
}

// architecture.md I4: a gap survives a crash
TEST(repo_gaps, a_gap_that_is_found_at_start_is_fetched) {
  repo_world x;
  x.sync();
  x.row->gap = true;
  x.restart();
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.wishes.size(), 1u);
}

// -- fetches that wait for a key (protocol-coverage.md 5.2) -------------------

/// A repo that was fetched before its key was in its document.
struct early_repo : repo_world {
  early_repo() {
    add_known();
    start_fetch(7);
    fail_fetch(7, fail(ec::verification_failed, "bad_signature"));
    learn(identity());
    settle();
    EXPECT_EQ(row->status, repo_status::error);
    EXPECT_GT(row->next_retry, now.wall.seconds());
    clear();
  }
};

// protocol-coverage.md 5.2: retried on the next #commit or #identity
TEST(repo_early, the_next_event_of_the_account_retries_its_fetch) {
  for (const auto hint : {false, true}) {
    early_repo x;
    if (hint)
      x.identity_event();
    else
      x.take(x.make_commit());
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].not_before, 0);
    EXPECT_EQ(x.refreshes, 1u) << "by a new document";
    x.settle();
    EXPECT_EQ(x.row->next_retry, 0);
  }
}

// limits::refetch_burst_max, and one more: then the back-off applies
TEST(repo_early, events_without_end_do_not_retry_it_without_end) {
  early_repo x;
  for (size_t i = 0; i < 2 * limits::refetch_burst_max; ++i)
    x.take(x.make_commit());
  EXPECT_EQ(x.wishes.size(), limits::refetch_burst_max);
}

// Other errors have nothing to do with keys.
TEST(repo_early, an_error_of_another_kind_keeps_its_back_off) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.fail_fetch(7, fail(ec::unreachable));
  x.settle();
  x.clear();
  x.take(x.make_commit());
  EXPECT_THAT(x.wishes, IsEmpty());
}

// protocol-coverage.md 5.3: a fetch that is older than its cause has not
// succeeded
TEST(repo_early, a_fetch_has_to_bring_the_event_that_caused_it) {
  repo_world x;
  x.sync();
  x.make_commit(); // This commit is lost.
  x.take(x.make_commit());
  x.settle();
  const auto missed = x.account.rev();
  EXPECT_EQ(x.row->status, repo_status::desync);
  x.start_fetch(7);
  ASSERT_FALSE(x.orders.empty());
  EXPECT_EQ(x.orders.back().least, missed);
  x.fail_fetch(7, fail(ec::chain_broken, "the host served an older rev"));
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::error);
  EXPECT_EQ(x.row->retry_count, 1u);
  x.run_fetch(8);
  EXPECT_EQ(x.row->status, repo_status::synced);
  x.resync();
  x.settle();
  x.start_fetch(9);
  EXPECT_FALSE(x.orders.back().least.defined());
}

} // namespace
} // namespace weir::tests
