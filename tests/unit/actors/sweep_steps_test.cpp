#include "actors/journal/sweep_steps.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/unit/actors/shell_fixture.hpp"
#include "tests/unit/storage/journal_fixture.hpp"

// What the JOURNAL does for SWEEPER: docs/actors.md, Erasing; ADR 35.
namespace weir::tests {
namespace {

using namespace weir::actors;

class SweepStepsTest : public ShellFixture {
protected:
  SweepStepsTest() {
    store.commit(ann.appear());
    for (int i = 0; i < 3; ++i)
      write(ann.commit({{"app.a.x/1", "version " + std::to_string(i)}}));
    home->outbox.uses_log = false;
  }

  void write(repo_update x) {
    storage::journal_batch group;
    group.updates.push_back(std::move(x));
    const auto out = store.commit(std::move(group));
    ann.accept(out.receipts.at(0));
    tail.add(out.entries);
  }

  uint64_t erase(storage::op_id until) {
    uint64_t out = 0;
    replaced_erased done{0, true};
    while (done.more) {
      done = steps.erase(erase_replaced{until}).value();
      EXPECT_FALSE(done.failed);
      out += done.contents;
    }
    return out;
  }

  test_store store;
  test_account ann{'a'};
  storage::tail_cache tail{1};
  watched_disk disk{time, home->stats, [this] {
                      ++waits;
                    }};
  sweep_steps steps{*store.writer, tail, *home, disk};
  size_t waits = 0;
};

} // namespace

// A page from memory must not have what is outdated in the store.
TEST_F(SweepStepsTest, WhatWasTrimmedLeavesTheTail) {
  ASSERT_TRUE(tail.since(0, 6));
  erase(7);
  waits = 0;
  EXPECT_EQ(steps.trim(trim_log{{1}}).value().operations, 2u);
  EXPECT_FALSE(tail.since(0, 6)) << "the store has to be asked";
  EXPECT_EQ(tail.since(2, 6).value().front()->first, 3u);
  EXPECT_EQ(waits, 1u) << "the health watch sees how long it takes";
  EXPECT_EQ(home->stats.whole_from, 3u);
}

TEST_F(SweepStepsTest, ContentThatTheConsumerNeedsIsNotErased) {
  home->outbox.uses_log = true;
  EXPECT_EQ(erase(7), 0u) << "it has acked nothing";
  home->outbox.uses_log = false;
  EXPECT_EQ(erase(7), 2u);
  EXPECT_EQ(erase(7), 0u);
}

TEST_F(SweepStepsTest, WhatIsPurgedIsForgotten) {
  erase(7);
  ASSERT_FALSE(storage::content_to_purge(*store.db).value().empty());
  ASSERT_TRUE(steps.end_purge());
  EXPECT_TRUE(storage::content_to_purge(*store.db).value().empty());
}

// Nothing was written, so the JOURNAL goes on.
TEST_F(SweepStepsTest, AStoreThatCannotBeReadIsNoEndOfTheWriter) {
  ASSERT_TRUE(store.writer->erase_replaced(3, false));
  store.put_raw(storage::encode_key(storage::log_block_key{0, 3}), "?");
  const auto erased = steps.erase(erase_replaced{7});
  ASSERT_TRUE(erased);
  EXPECT_TRUE(erased->failed);
  const auto trimmed = steps.trim(trim_log{{1, 3}});
  ASSERT_TRUE(trimmed);
  EXPECT_FALSE(store.writer->failed());
}

} // namespace weir::tests
