#include "actors/node/write_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// architecture.md, When the disk fills up: when a disk that refuses writes
// although it has free bytes is tried again.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

disk_reading refused(ec code = ec::disk_full) {
  disk_reading out{storage::disk_space{5'000, 1'000'000}};
  out.trial = fail(code, "no inode");
  return out;
}

} // namespace

// limits::disk_trial_pause_min, limits::disk_trial_pause_max
TEST(write_trials, the_pause_grows_up_to_a_minute) {
  write_trials x;
  steady_time now;
  EXPECT_TRUE(x.is_due(now)) << "the first trial waits for nothing";
  std::chrono::seconds expected = limits::disk_trial_pause_min;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(x.on_look(refused(), true, now));
    EXPECT_EQ(x.pause(), expected);
    EXPECT_FALSE(x.is_due(now + (expected - 1us)));
    now = now + expected;
    EXPECT_TRUE(x.is_due(now));
    expected = std::min(2 * expected, limits::disk_trial_pause_max);
  }
  EXPECT_EQ(expected, limits::disk_trial_pause_max);
}

TEST(write_trials, a_look_without_a_trial_changes_nothing) {
  write_trials x;
  const steady_time now;
  const disk_reading room{storage::disk_space{5'000, 1'000'000}};
  EXPECT_FALSE(x.on_look(room, true, now));
  EXPECT_TRUE(x.is_due(now));
  EXPECT_TRUE(x.on_look(refused(), true, now));
  EXPECT_FALSE(x.on_look(room, true, now));
  EXPECT_FALSE(x.is_due(now));
  EXPECT_EQ(x.pause(), limits::disk_trial_pause_min);
}

TEST(write_trials, a_disk_that_was_cleared_is_tried_at_once) {
  write_trials x;
  const steady_time now;
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(x.on_look(refused(), true, now));
  EXPECT_FALSE(x.on_look({storage::disk_space{1, 1'000'000}}, false, now));
  EXPECT_TRUE(x.is_due(now));
  EXPECT_TRUE(x.on_look(refused(), true, now));
  EXPECT_EQ(x.pause(), limits::disk_trial_pause_min);
}

TEST(write_trials, the_reason_names_what_may_be_used_up) {
  write_trials x;
  EXPECT_THAT(*x.on_look(refused(), true, {}),
              testing::AllOf(HasSubstr("only read"), HasSubstr("no inode"),
                             HasSubstr("df -i"), HasSubstr("quota")));
  EXPECT_THAT(*x.on_look(refused(ec::storage_failure), true, {}),
              testing::AllOf(HasSubstr("no inode"), Not(HasSubstr("df -i"))));
}

} // namespace weir::actors
