#include "actors/sweeper/limits.hpp"
#include "actors/sweeper/sweeper.hpp"
#include "messages/journal.hpp"
#include "storage/log/tail_cache.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// SWEEPER's part in trimming the log: docs/actors.md, Erasing; ADR 35.
namespace weir::tests {
namespace {

using namespace weir::actors;
using testing::IsEmpty;

/// A SWEEPER over a store in which one record was written again and again.
class SweeperTrimTest : public ShellFixture {
protected:
  SweeperTrimTest() {
    home->journal = journal.as<journal_actor>();
    store.commit(ann.appear());
    for (size_t i = 0; i < versions; ++i)
      ann.accept(store.commit(ann.commit({{"app.a.x/1", std::to_string(i)}})));
    // Another minute, so that what came before can be old.
    store.time.advance(2min);
    ann.accept(store.commit(ann.commit({{"app.a.x/2", "last"}})));
    home->outbox.uses_log = false;
  }

  void start(std::chrono::seconds retention) {
    sweeper_store on{store.db.get(), &tail, 0, store.names.get(), retention};
    sweeper = keep(spawn_sweeper(sys, shared, home, std::move(on), false));
    walk();
  }

  /// Does what the JOURNAL is asked to erase, in one step. Between the steps of
  /// a lap there may be a purge.
  void walk() {
    for (int i = 0; i < 8; ++i) {
      for (const auto& x : journal.take<erase_replaced>()) {
        until = x.until;
        while (store.writer->erase_replaced(until, home->outbox.uses_log)
                 .value()
                 .more) {
        }
        tell(sweeper, replaced_erased{});
      }
      pass(1us);
    }
  }

  /// The blocks that the JOURNAL was asked to remove.
  std::vector<storage::op_id> asked() {
    std::vector<storage::op_id> out;
    for (const auto& x : journal.take<trim_log>())
      out.insert(out.end(), x.firsts.begin(), x.firsts.end());
    return out;
  }

  /// Each has two operations, so this is a little more than one step.
  static constexpr size_t versions = limits::trim_step_ops_max / 2 + 4;

  test_store store;
  test_account ann{'a'};
  storage::tail_cache tail{1};
  probe journal{sys};
  sweeper_actor sweeper;
  storage::op_id until = 0; ///< What the JOURNAL was asked to erase before.
};

} // namespace

// limits::trim_step_ops_max
TEST_F(SweeperTrimTest, AStepHasAThousandOperations) {
  pass(1h);
  start(1s);
  EXPECT_EQ(asked().size(), limits::trim_step_ops_max / 2);
  tell(sweeper, log_trimmed{limits::trim_step_ops_max});
  pass(1ms); // It rests for some times the microseconds that passed.
  EXPECT_EQ(asked().size(), 3u) << "the last version is current";
  tell(sweeper, log_trimmed{6});
  pass(limits::trim_pause_min - 1us);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SweeperTrimTest, WhatIsNotOldStays) {
  start(24h);
  EXPECT_THAT(asked(), IsEmpty());
  EXPECT_EQ(until, 1u);
  pass(23h);
  walk();
  EXPECT_THAT(asked(), IsEmpty());
  pass(2h);
  walk();
  EXPECT_EQ(asked().size(), limits::trim_step_ops_max / 2);
  EXPECT_EQ(until, 2 * versions + 1) << "the last block stays";
}

TEST_F(SweeperTrimTest, WithoutARetentionEverythingStays) {
  start(0s);
  pass(1'000h);
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SweeperTrimTest, WhatTheConsumerNeedsIsNotAskedFor) {
  home->outbox.uses_log = true;
  storage::consumer_change change;
  change.name = "channel";
  change.row
    = storage::consumer_row{{4}, store.db->log_identity(), false, 0, 0};
  storage::journal_batch group;
  group.consumers.push_back(change);
  store.commit(group);
  pass(1h);
  start(1s);
  EXPECT_EQ(asked().size(), 2u);
}

// limits::purge_pause: the JOURNAL learns when the bytes are gone
TEST_F(SweeperTrimTest, WhatWasErasedIsRemovedFromTheDisk) {
  pass(1h);
  ASSERT_GT(store.writer->erase_replaced(5, false).value().erased, 0u);
  ASSERT_FALSE(storage::content_to_purge(*store.db).value().empty());
  home->outbox.uses_log = true; // No block is spent.
  start(24h);
  EXPECT_EQ(journal.count<content_purged>(), 1u);
  pass(limits::purge_pause - 1h);
  walk();
  EXPECT_EQ(journal.count<content_purged>(), 0u);
  pass(2h);
  walk();
  EXPECT_EQ(journal.count<content_purged>(), 1u) << "a day later";
}

// A clock that is ahead would make the whole log old.
TEST_F(SweeperTrimTest, WhileTheClockIsDoubtedNothingIsOld) {
  pass(1h);
  clock_state wrong;
  wrong.directory_ahead = -10min;
  shared->health.with([&](health_machine& x) {
    x.look({}, wrong, time.steady_now(), time.wall_now());
  });
  start(1s);
  EXPECT_THAT(asked(), IsEmpty());
  shared->health.with([&](health_machine& x) {
    x.look({}, {}, time.steady_now(), time.wall_now());
  });
  pass(limits::trim_pause_min);
  walk();
  EXPECT_EQ(asked().size(), limits::trim_step_ops_max / 2);
}

} // namespace weir::tests
