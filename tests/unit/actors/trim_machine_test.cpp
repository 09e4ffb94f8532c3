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
    EXPECT_FALSE(x_.on_timer(now + -1us).look);
    return x_.on_timer(now);
  }

  trim_machine x_;
  steady_time now = steady_time{} + 1h;
};

// limits::trim_pause_min
TEST_F(TrimMachineTest, ALapBeginsAtOnceAndThenAMinuteAfterTheLast) {
  auto out = x_.on_start(now);
  EXPECT_EQ(out.look, 1u);
  out = x_.on_looked({{}, 0}, now);
  EXPECT_THAT(out.remove, IsEmpty());
  out = wait(out, limits::trim_pause_min);
  EXPECT_EQ(out.look, 1u);
}

// limits::trim_rest_factor
TEST_F(TrimMachineTest, AfterEachStepItRests) {
  x_.on_start(now);
  now = now + 10ms;
  auto out = x_.on_looked({{3, 7}, 40}, now);
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
  x_.on_start(now);
  now = now + 10min;
  auto out = x_.on_looked({{5}, 0}, now);
  EXPECT_THAT(out.remove, ElementsAre(5));
  out = wait(x_.on_trimmed(now), 10min * limits::trim_pause_factor);
  EXPECT_EQ(out.look, 1u);
}

TEST_F(TrimMachineTest, AfterAFailureTheNextLapTriesAgain) {
  x_.on_start(now);
  wait(x_.on_looked({{}, 40}, now), 0us);
  const auto out = wait(x_.on_failed(now), limits::trim_pause_min);
  EXPECT_EQ(out.look, 1u);
}

TEST_F(TrimMachineTest, AnOldTimerDoesNothing) {
  x_.on_start(now);
  EXPECT_FALSE(x_.on_timer(now + 1h).look) << "a step is under way";
}

} // namespace
} // namespace weir::actors
