#include "actors/sweeper/limits.hpp"
#include "actors/sweeper/trim_machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// The pace of trimming the log: docs/storage-format.md 5.2.
namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class TrimMachineTest : public testing::Test {
protected:
  /// The next action is due after this time, and not before.
  trim_effects wait(const trim_effects& x, std::chrono::microseconds expected) {
    EXPECT_EQ(x.timer, now + expected);
    now = now + expected;
    const auto early = x_.on_timer(now + -1us);
    EXPECT_FALSE(early.look || early.erase || early.compact || early.timer);
    return x_.on_timer(now);
  }

  /// A lap begins, and there are no contents to erase.
  trim_effects begin(const trim_effects& lap) {
    EXPECT_TRUE(lap.erase);
    return wait(x_.on_erased(false, now), 0us);
  }

  /// The lap ends without a compaction.
  trim_effects end(const trim_effects& x) {
    EXPECT_TRUE(x.plan);
    return x_.on_planned({}, now);
  }

  trim_machine x_{30 * 24h};
  steady_time now = steady_time{} + 1h;
};

// limits::trim_pause_min
TEST_F(TrimMachineTest, ALapBeginsAtOnceAndThenAMinuteAfterTheLast) {
  auto out = begin(x_.on_start(now));
  EXPECT_EQ(out.look, 1u);
  out = x_.on_looked({{}, 0}, now);
  EXPECT_THAT(out.remove, IsEmpty());
  out = wait(end(out), limits::trim_pause_min);
  EXPECT_EQ(begin(out).look, 1u);
}

// limits::trim_rest_factor
TEST_F(TrimMachineTest, AfterEachStepItRests) {
  auto out = x_.on_start(now);
  EXPECT_TRUE(out.erase);
  now = now + 7ms;
  out = wait(x_.on_erased(true, now), 7ms * limits::trim_rest_factor);
  EXPECT_TRUE(out.erase) << "there were more";
  now = now + 3ms;
  out = wait(x_.on_erased(false, now), 3ms * limits::trim_rest_factor);
  EXPECT_EQ(out.look, 1u);
  now = now + 10ms;
  out = x_.on_looked({{3, 7}, 40}, now);
  EXPECT_THAT(out.remove, ElementsAre(3, 7));
  EXPECT_FALSE(out.timer) << "the JOURNAL has to answer first";
  now = now + 5ms;
  out = wait(x_.on_trimmed(now), 15ms * limits::trim_rest_factor);
  EXPECT_EQ(out.look, 40u);
  now = now + 2ms;
  out = wait(x_.on_looked({{}, 90}, now), 2ms * limits::trim_rest_factor);
  EXPECT_EQ(out.look, 90u);
}

// limits::trim_pause_factor
TEST_F(TrimMachineTest, ALongLapIsFollowedByALongPause) {
  begin(x_.on_start(now));
  now = now + 10min;
  auto out = x_.on_looked({{5}, 0}, now);
  EXPECT_THAT(out.remove, ElementsAre(5));
  out = wait(end(x_.on_trimmed(now)), 10min * limits::trim_pause_factor);
  EXPECT_TRUE(out.erase);
}

TEST_F(TrimMachineTest, AfterAFailureTheNextLapTriesAgain) {
  begin(x_.on_start(now));
  wait(x_.on_looked({{}, 40}, now), 0us);
  const auto out = wait(x_.on_failed(now), limits::trim_pause_min);
  EXPECT_EQ(begin(out).look, 1u);
}

TEST_F(TrimMachineTest, AnOldTimerDoesNothing) {
  x_.on_start(now);
  const auto out = x_.on_timer(now + 1h);
  EXPECT_FALSE(out.look || out.erase) << "a step is under way";
}

// limits::purge_pause, limits::compaction_rest_factor
TEST_F(TrimMachineTest, TheBytesAreRemovedSpanBySpanAndThenNotForADay) {
  begin(x_.on_start(now));
  EXPECT_TRUE(x_.on_looked({{}, 0}, now).plan);
  const auto planned = now;
  auto out = x_.on_planned({{3, 9}, {20, 30}}, now);
  EXPECT_EQ(out.compact, (storage::content_span{3, 9}));
  now = now + 4ms;
  out = wait(x_.on_compacted({6, true}, now),
             4ms * limits::compaction_rest_factor);
  EXPECT_EQ(out.compact, (storage::content_span{6, 9})) << "its rest";
  out = wait(x_.on_compacted({0, true}, now), 0us);
  EXPECT_EQ(out.compact, (storage::content_span{20, 30}));
  out = x_.on_compacted({0, true}, now);
  EXPECT_TRUE(out.purged);
  ASSERT_TRUE(out.timer);
  now = planned + (limits::purge_pause - 1us);
  begin(x_.on_timer(now));
  out = x_.on_looked({{}, 0}, now);
  EXPECT_FALSE(out.plan);
  now = now + limits::trim_pause_min;
  begin(x_.on_timer(now));
  EXPECT_TRUE(x_.on_looked({{}, 0}, now).plan);
}

TEST_F(TrimMachineTest, WhatAReaderStillUsesIsRemovedLater) {
  begin(x_.on_start(now));
  x_.on_looked({{}, 0}, now);
  x_.on_planned({{3, 9}, {20, 30}}, now);
  wait(x_.on_compacted({0, false}, now), 0us);
  const auto out = x_.on_compacted({0, true}, now);
  EXPECT_FALSE(out.purged);
  EXPECT_TRUE(out.timer);
}

// What is kept for a short time only must not stay on the disk for a day.
TEST_F(TrimMachineTest, AShortRetentionRemovesThemAsOften) {
  trim_machine x{1h};
  x.on_start(now);
  x.on_erased(false, now);
  x.on_timer(now);
  EXPECT_TRUE(x.on_looked({{}, 0}, now).plan);
  x.on_planned({}, now);
  now = now + 59min;
  x.on_timer(now);
  x.on_erased(false, now);
  x.on_timer(now);
  EXPECT_FALSE(x.on_looked({{}, 0}, now).plan);
  now = now + 1min;
  x.on_timer(now);
  x.on_erased(false, now);
  x.on_timer(now);
  EXPECT_TRUE(x.on_looked({{}, 0}, now).plan);
}

} // namespace
} // namespace weir::actors
