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
  static bool acts(const trim_effects& x) {
    return x.begin || x.erase || x.look || x.plan || x.compact;
  }

  /// The next action is due after this time, and not before.
  trim_effects wait(const trim_effects& x, std::chrono::microseconds expected) {
    EXPECT_EQ(x.timer, now + expected);
    now = now + expected;
    EXPECT_FALSE(acts(x_.on_timer(now + -1us)));
    return x_.on_timer(now);
  }

  /// The node begins, and nothing has to leave the disk for a day.
  trim_effects start() {
    EXPECT_TRUE(x_.on_start(now).begin);
    EXPECT_EQ(x_.on_horizon(50, now).erase, 50u);
    EXPECT_EQ(x_.on_erased(false, now).timer, now);
    EXPECT_TRUE(x_.on_timer(now).plan);
    return x_.on_planned({}, now);
  }

  /// A lap begins, and there are no contents to erase.
  trim_effects begin(const trim_effects& lap) {
    EXPECT_TRUE(lap.begin);
    EXPECT_EQ(x_.on_horizon(50, now).erase, 50u);
    return wait(x_.on_erased(false, now), 0us);
  }

  static storage::op_id looks_from(const trim_effects& x) {
    EXPECT_TRUE(x.look);
    EXPECT_EQ(x.look ? x.look->until : 0, 50u);
    return x.look ? x.look->from : 0;
  }

  trim_machine x_{30 * 24h};
  steady_time now = steady_time{} + 1h;
};

// limits::trim_pause_min
TEST_F(TrimMachineTest, ALapBeginsAtOnceAndThenAMinuteAfterTheLast) {
  auto out = wait(start(), 0us);
  EXPECT_EQ(looks_from(out), 1u);
  out = x_.on_looked({{}, 0}, now);
  EXPECT_THAT(out.remove, IsEmpty());
  out = wait(out, limits::trim_pause_min);
  EXPECT_EQ(looks_from(begin(out)), 1u);
}

// limits::trim_rest_factor
TEST_F(TrimMachineTest, AfterEachStepItRests) {
  wait(start(), 0us);
  auto out = wait(x_.on_looked({{}, 0}, now), limits::trim_pause_min);
  EXPECT_EQ(x_.on_horizon(50, now).erase, 50u);
  now = now + 7ms;
  out = wait(x_.on_erased(true, now), 7ms * limits::trim_rest_factor);
  EXPECT_EQ(out.erase, 50u) << "there were more";
  now = now + 3ms;
  out = wait(x_.on_erased(false, now), 3ms * limits::trim_rest_factor);
  EXPECT_EQ(looks_from(out), 1u);
  now = now + 10ms;
  out = x_.on_looked({{3, 7}, 40}, now);
  EXPECT_THAT(out.remove, ElementsAre(3, 7));
  EXPECT_FALSE(out.timer) << "the JOURNAL has to answer first";
  now = now + 5ms;
  out = wait(x_.on_trimmed(now), 15ms * limits::trim_rest_factor);
  EXPECT_EQ(looks_from(out), 40u);
  now = now + 2ms;
  out = wait(x_.on_looked({{}, 45}, now), 2ms * limits::trim_rest_factor);
  EXPECT_EQ(looks_from(out), 45u);
}

// limits::trim_pause_factor
TEST_F(TrimMachineTest, ALongLapIsFollowedByALongPause) {
  wait(start(), 0us);
  now = now + 10min;
  auto out = x_.on_looked({{5}, 0}, now);
  EXPECT_THAT(out.remove, ElementsAre(5));
  out = wait(x_.on_trimmed(now), 10min * limits::trim_pause_factor);
  EXPECT_TRUE(out.begin);
}

TEST_F(TrimMachineTest, AfterAFailureTheNextLapTriesAgain) {
  wait(start(), 0us);
  wait(x_.on_looked({{}, 40}, now), 0us);
  const auto out = wait(x_.on_failed(now), limits::trim_pause_min);
  EXPECT_EQ(looks_from(begin(out)), 1u);
}

TEST_F(TrimMachineTest, AnOldTimerDoesNothing) {
  x_.on_start(now);
  x_.on_horizon(50, now);
  EXPECT_FALSE(acts(x_.on_timer(now + 1h))) << "a step is under way";
}

// limits::purge_pause, limits::compaction_rest_factor; in the midst of a lap
TEST_F(TrimMachineTest, TheBytesAreRemovedSpanBySpanAndThenNotForADay) {
  x_.on_start(now);
  x_.on_horizon(50, now);
  x_.on_erased(false, now);
  EXPECT_TRUE(x_.on_timer(now).plan);
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
  const auto ended = now;
  EXPECT_EQ(out.timer, now);
  EXPECT_EQ(looks_from(x_.on_timer(now)), 1u) << "the lap goes on";
  out = x_.on_looked({{}, 0}, now);
  now = ended + (limits::purge_pause - 1us);
  begin(x_.on_timer(now));
  x_.on_looked({{}, 0}, now);
  EXPECT_TRUE(x_.on_timer(ended + limits::purge_pause).plan);
}

// The pause after a lap must not grow with what the compaction took.
TEST_F(TrimMachineTest, ACompactionDoesNotMakeTheLapLonger) {
  x_.on_start(now);
  x_.on_horizon(50, now);
  x_.on_erased(false, now);
  x_.on_timer(now);
  x_.on_planned({{3, 9}}, now);
  now = now + 3h;
  EXPECT_EQ(x_.on_compacted({0, true}, now).timer, now);
  EXPECT_EQ(looks_from(x_.on_timer(now)), 1u);
  wait(x_.on_looked({{}, 0}, now), limits::trim_pause_min);
}

// limits::purge_retry
TEST_F(TrimMachineTest, WhatAReaderStillUsesIsRemovedSoon) {
  wait(start(), 0us);
  x_.on_looked({{}, 0}, now);
  now = now + limits::purge_pause;
  EXPECT_TRUE(x_.on_timer(now).plan);
  x_.on_planned({{3, 9}, {20, 30}}, now);
  wait(x_.on_compacted({0, false}, now), 0us);
  auto out = x_.on_compacted({0, true}, now);
  EXPECT_FALSE(out.purged);
  begin(x_.on_timer(now));
  out = x_.on_looked({{}, 0}, now);
  now = now + limits::purge_retry;
  EXPECT_TRUE(x_.on_timer(now).plan);
  x_.on_failed(now);
  EXPECT_FALSE(x_.on_timer(now + (limits::purge_retry - 1us)).plan);
  x_.on_horizon(50, now);
  x_.on_failed(now);
  EXPECT_TRUE(x_.on_timer(now + limits::purge_retry).plan);
}

// What is kept for a short time only must not stay on the disk for a day.
TEST_F(TrimMachineTest, AShortRetentionRemovesThemAsOften) {
  trim_machine x{2min};
  x.on_start(now);
  x.on_horizon(50, now);
  x.on_erased(false, now);
  EXPECT_TRUE(x.on_timer(now).plan);
  x.on_planned({}, now);
  EXPECT_TRUE(x.on_timer(now).look);
  x.on_looked({{}, 0}, now);
  EXPECT_FALSE(x.on_timer(now + (limits::trim_pause_min - 1us)).plan);
  EXPECT_TRUE(x.on_timer(now + 2min).plan);
}

// What was erased under another setting must leave the disk all the same.
TEST_F(TrimMachineTest, WithoutARetentionOnlyTheBytesAreRemoved) {
  trim_machine x{0s};
  EXPECT_EQ(x.on_start(now).timer, now);
  EXPECT_TRUE(x.on_timer(now).plan);
  x.on_planned({{3, 9}}, now);
  const auto out = x.on_compacted({0, true}, now);
  EXPECT_TRUE(out.purged);
  EXPECT_EQ(out.timer, now + limits::purge_pause);
  EXPECT_FALSE(acts(x.on_timer(now + (limits::purge_pause - 1us))));
  EXPECT_TRUE(x.on_timer(now + limits::purge_pause).plan);
}

} // namespace
} // namespace weir::actors
