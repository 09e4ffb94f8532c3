#include "actors/journal/batch_machine.hpp"
#include "actors/support/restart_policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

using batches = batch_machine<int>;

// architecture.md, The stages: live work goes first and completely, backfill
// gets a share
TEST(batch_machine, live_work_goes_first_and_backfill_gets_its_share) {
  batches x{{10, 100, 20}};
  x.add(1, 10, true);
  x.add(2, 10, true);
  x.add(3, 10, true);
  x.add(4, 60, false);
  x.add(5, 40, false);
  EXPECT_THAT(x.take(false), ElementsAre(4, 5, 1, 2));
  EXPECT_FALSE(x.has_live());
  EXPECT_TRUE(x.has_backfill());
  EXPECT_THAT(x.take(false), ElementsAre(3));
  EXPECT_THAT(x.take(false), IsEmpty());
}

// architecture.md, The stages: bytes at the limit and one past
TEST(batch_machine, a_batch_ends_before_the_byte_that_is_too_many) {
  batches x{{10, 100, 20}};
  x.add(1, 60, false);
  x.add(2, 41, false);
  EXPECT_THAT(x.take(false), ElementsAre(1));
  EXPECT_THAT(x.take(false), ElementsAre(2));
}

// storage-format.md 5: one update is atomic, whatever its size
TEST(batch_machine, one_work_above_every_bound_passes) {
  batches x{{10, 100, 20}};
  x.add(1, 1'000, false);
  x.add(2, 1, false);
  EXPECT_THAT(x.take(false), ElementsAre(1));
  x.add(3, 1'000, true);
  x.add(4, 1, true);
  EXPECT_THAT(x.take(false), ElementsAre(2, 3));
}

// architecture.md, The stages: count at the limit and one past
TEST(batch_machine, the_count_bounds_live_and_backfill_together) {
  batches x{{2, 100, 100}};
  x.add(1, 1, false);
  x.add(2, 1, true);
  x.add(3, 1, true);
  EXPECT_THAT(x.take(false), ElementsAre(1, 2));
  EXPECT_THAT(x.take(false), ElementsAre(3));
}

// Backfill pauses while the store must merge
TEST(batch_machine, a_pause_holds_backfill_only) {
  batches x{{10, 100, 20}};
  x.add(1, 1, true);
  EXPECT_THAT(x.take(true), IsEmpty());
  x.add(2, 1, false);
  EXPECT_THAT(x.take(true), ElementsAre(2));
  EXPECT_THAT(x.take(false), ElementsAre(1));
}

// actors.md, Rules: at the limit and one past
TEST(restart_policy, the_fourth_death_in_ten_seconds_escalates) {
  restart_policy x;
  for (const auto at : {0s, 1s, 2s})
    EXPECT_TRUE(x.may_restart(steady_time{0} + at));
  EXPECT_FALSE(x.may_restart(steady_time{0} + 10s));
}

// actors.md, Rules: old deaths are forgotten, one at a time
TEST(restart_policy, a_death_outside_the_window_no_longer_counts) {
  restart_policy x;
  for (const auto at : {0s, 1s, 2s})
    EXPECT_TRUE(x.may_restart(steady_time{0} + at));
  EXPECT_TRUE(x.may_restart(steady_time{0} + (10s + 1us)));
  EXPECT_FALSE(x.may_restart(steady_time{0} + (10s + 2us)));
}

} // namespace
} // namespace weir::actors
