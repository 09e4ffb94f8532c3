#include "tests/unit/actors/repo_world.hpp"

namespace weir::tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// SYNC-03, SYNC-10, SYNC-29
// protocol-coverage.md 2.5.2
TEST(repo_life, an_added_repo_is_pending_and_added_once) {
  repo_world x;
  EXPECT_TRUE(x.add());
  EXPECT_EQ(x.loads, 1u);
  ASSERT_EQ(x.wishes.size(), 1u);
  EXPECT_EQ(x.wishes[0].status, repo_status::pending);
  EXPECT_EQ(x.wishes[0].not_before, 0);
  const auto update = x.write();
  EXPECT_TRUE(update.member);
  EXPECT_FALSE(update.old_status);
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_FALSE(x.add());
}

// actors.md, One update of a repo: frames of untracked DIDs are finished at
// once
TEST(repo_life, frames_of_a_repo_that_is_not_tracked_are_given_back) {
  repo_world x;
  const auto seq = x.take(x.make_commit());
  EXPECT_TRUE(x.finished(seq));
  EXPECT_FALSE(x.in_flight);
}

// actors.md, Falling asleep: the repo sleeps while it waits for a permit, which
// comes with everything that it needs
TEST(repo_life, a_permit_that_wakes_the_repo_begins_its_fetch) {
  repo_world x;
  x.add_known();
  EXPECT_TRUE(x.machine->idle());
  x.restart();
  x.clear();
  x.begin(7);
  ASSERT_EQ(x.orders.size(), 1u);
  EXPECT_EQ(x.orders[0].pds, pds_origin);
  EXPECT_EQ(x.loads, 0u) << "it asks nobody";
  EXPECT_THAT(x.wishes, IsEmpty());
}

// SYNC-30: a permit that comes too late is returned
TEST(repo_life, a_repo_that_is_removed_refuses_its_fetch) {
  repo_world x;
  x.add_known();
  EXPECT_TRUE(x.remove());
  x.begin(7);
  EXPECT_THAT(x.job_ends, ElementsAre(ec::cancelled));
  EXPECT_EQ(x.no_host({x.account.did(), fail(ec::unreachable)}).code, ec::none);
}

// SYNC-09; ADR 2, 2
TEST(repo_life, syncing_found_at_start_is_fetched_again) {
  for (const auto indexed : {false, true}) {
    repo_world x;
    if (indexed) {
      x.sync();
      x.resync();
    } else {
      x.add_known();
    }
    x.start_fetch(7);
    x.buffer[1].bytes = shared_bytes{bytes{1}};
    x.clear();
    x.restart();
    const auto expected = indexed ? repo_status::desync : repo_status::pending;
    ASSERT_EQ(x.wishes.size(), 1u);
    EXPECT_EQ(x.wishes[0].status, expected);
    x.settle();
    EXPECT_EQ(x.row->status, expected);
    EXPECT_EQ(x.row->resync_id, 0u);
    EXPECT_THAT(x.buffer, IsEmpty());
  }
}

// SYNC-33
TEST(repo_life, a_resync_queues_the_repo_and_leaves_a_running_fetch) {
  repo_world x;
  EXPECT_FALSE(x.resync());
  x.sync();
  EXPECT_TRUE(x.resync());
  x.settle();
  EXPECT_EQ(x.row->status, repo_status::desync);
  EXPECT_EQ(x.row->error, "");
  EXPECT_EQ(x.wishes.at(0).status, repo_status::desync);
  x.start_fetch(2);
  x.clear();
  EXPECT_TRUE(x.resync());
  EXPECT_THAT(x.job_ends, IsEmpty());
  EXPECT_EQ(x.machine->row().status, repo_status::syncing);
}

// SYNC-30
TEST(repo_life, removal_forgets_the_row_and_then_the_repo) {
  repo_world x;
  EXPECT_FALSE(x.remove());
  x.sync();
  EXPECT_TRUE(x.remove());
  EXPECT_FALSE(x.remove());
  EXPECT_FALSE(x.removed) << "it may fail";
  EXPECT_TRUE(x.machine->tracked());
  const auto update = x.write();
  EXPECT_TRUE(update.erase);
  EXPECT_TRUE(update.forget);
  EXPECT_FALSE(update.row);
  EXPECT_TRUE(x.removed);
  EXPECT_FALSE(x.machine->tracked());
  EXPECT_TRUE(x.machine->idle());
  EXPECT_FALSE(x.row);
  const auto late = x.take(x.make_commit());
  EXPECT_TRUE(x.finished(late)) << "it was on its way";
}

// SYNC-30: updates in flight cannot bring the repo back
TEST(repo_life, removal_waits_for_the_update_in_flight_and_drops_the_next) {
  repo_world x;
  x.sync();
  const auto sent = x.take(x.make_commit());
  const auto next = x.take(x.make_commit());
  EXPECT_TRUE(x.remove());
  const auto late = x.take(x.make_commit());
  x.write();
  EXPECT_FALSE(x.removed);
  EXPECT_THAT(x.done, ElementsAre(sent));
  ASSERT_TRUE(x.in_flight);
  EXPECT_THAT(x.in_flight->update->transactions, IsEmpty());
  x.write();
  EXPECT_TRUE(x.removed);
  EXPECT_TRUE(x.finished(next));
  EXPECT_TRUE(x.finished(late));
  EXPECT_FALSE(x.row);
}

// SYNC-30: removal during a fetch
TEST(repo_life, removal_cancels_the_fetch_and_ignores_its_late_result) {
  repo_world x;
  x.add_known();
  x.start_fetch(7);
  x.chunk(7, {create_op("a")});
  x.remove();
  EXPECT_THAT(x.cancelled, ElementsAre(7));
  x.chunk(7, {create_op("b")});
  x.fetched(7);
  x.settle();
  EXPECT_FALSE(x.row);
  EXPECT_FALSE(x.chain->rev.defined());
  EXPECT_TRUE(x.removed);
}

// SYNC-29, SYNC-30: it is added again before the removal is durable
TEST(repo_life, an_addition_during_a_removal_follows_it) {
  repo_world x;
  x.sync();
  x.remove();
  const auto unsent = x.machine->unsent();
  EXPECT_TRUE(x.add({"app.test.*"}));
  // The answer waits until it is durable.
  EXPECT_EQ(x.machine->unsent(), unsent + 1);
  repo_effects effects;
  EXPECT_EQ(x.machine->unsent(effects), unsent + 1);
  effects.update.emplace();
  EXPECT_EQ(x.machine->unsent(effects), unsent + 2);
  EXPECT_FALSE(x.add());
  const auto seq = x.take(x.make_commit());
  x.clear();
  EXPECT_TRUE(x.write().forget);
  EXPECT_FALSE(x.removed);
  EXPECT_EQ(x.wishes.size(), 1u);
  EXPECT_FALSE(x.finished(seq));
  x.settle();
  EXPECT_TRUE(x.finished(seq));
  ASSERT_TRUE(x.row);
  EXPECT_EQ(x.row->status, repo_status::pending);
  EXPECT_THAT(x.member->collections, ElementsAre("app.test.*"));
  x.learn(x.identity());
  x.run_fetch(9);
  EXPECT_EQ(x.row->status, repo_status::synced);
  EXPECT_EQ(x.row->pds, pds_origin);
  EXPECT_EQ(x.chain->data, x.account.data());
}

// SYNC-30: it is removed again
TEST(repo_life, a_queued_addition_can_be_removed) {
  repo_world x;
  x.sync();
  x.remove();
  x.add();
  EXPECT_TRUE(x.remove());
  EXPECT_FALSE(x.removed);
  x.write();
  EXPECT_TRUE(x.removed);
  EXPECT_FALSE(x.row);
}

// SYNC-33; protocol-coverage.md 4: an inactive account cannot be fetched, but
// its host can say whether it is still inactive
TEST(repo_life, a_resync_of_an_inactive_account_asks_its_host) {
  repo_world x;
  x.sync();
  x.account_event(false, "deactivated");
  x.settle();
  x.clear();
  EXPECT_TRUE(x.resync());
  EXPECT_EQ(x.questions.size(), 1u);
  EXPECT_THAT(x.wishes, IsEmpty());
  EXPECT_EQ(x.machine->row().status, repo_status::synced);
}

// SYNC-18; architecture.md I4: a crash must not lose a discovery
// protocol-coverage.md 3.6: whether a #commit or a #sync found it
TEST(repo_life, the_frame_that_found_a_repo_is_finished_after_its_addition) {
  for (const auto is_sync : {false, true})
    for (const auto frame_first : {true, false}) {
      repo_world x;
      auto frame = x.make_commit();
      if (is_sync)
        frame = x.account.sync_frame(1);
      x.machine.emplace(x.account.did(), x.settings, 1);
      uint64_t seq = 0;
      if (frame_first)
        seq = x.take(frame);
      x.machine->on_loaded({}, x.now);
      EXPECT_TRUE(x.add());
      EXPECT_THAT(x.done, IsEmpty());
      x.awake();
      if (!frame_first)
        seq = x.take(frame);
      EXPECT_FALSE(x.finished(seq));
      x.write();
      ASSERT_TRUE(x.row);
      EXPECT_EQ(x.row->status, repo_status::pending);
      EXPECT_EQ(x.wishes.size(), 1u);
      EXPECT_TRUE(x.finished(seq));
    }
}

// actors.md, One update of a repo: frames that waited for the rows of an
// untracked repo
TEST(repo_life, frames_before_the_rows_are_given_back_when_nothing_adds_it) {
  repo_world x;
  x.machine.emplace(x.account.did(), x.settings, 1);
  const auto seq = x.take(x.make_commit());
  x.machine->on_loaded({}, x.now);
  x.awake();
  EXPECT_TRUE(x.finished(seq));
}

} // namespace
} // namespace weir::tests
