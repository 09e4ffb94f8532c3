#include "base/clock.hpp"
#include "tests/support/manual_clock.hpp"

#include <gtest/gtest.h>

namespace weir {

using namespace std::chrono_literals;

TEST(ClockTest, SteadyTimeOfTheMachineNeverRunsBackwards) {
  auto last = system_clock().steady_now();
  for (int i = 0; i < 1000; ++i) {
    const auto now = system_clock().steady_now();
    ASSERT_LE(last, now);
    last = now;
  }
}

TEST(ClockTest, WallTimeOfTheMachineIsMicrosecondsSince1970) {
  const auto now = system_clock().wall_now();
  EXPECT_GT(now.micros, 1'600'000'000'000'000); // 2020
  EXPECT_LT(now.micros, 9'999'999'999'999'999); // 2286
}

TEST(ClockTest, WallTimeIsCutToSeconds) {
  const wall_time t{1'700'000'000'123'456};
  EXPECT_EQ(t.seconds(), 1'700'000'000);
}

TEST(ClockTest, TimesAddAndSubtractInMicroseconds) {
  EXPECT_EQ((steady_time{5} + 2ms).micros, 2005);
  EXPECT_EQ(steady_time{2005} - steady_time{5}, 2ms);
  EXPECT_EQ(steady_time{5} - steady_time{2005}, -2ms);
  EXPECT_EQ((wall_time{5} + 1s).micros, 1'000'005);
}

TEST(ManualClockTest, MovesOnlyWhenTold) {
  manual_clock time{{1'000'000}};
  const auto start = time.steady_now();
  EXPECT_EQ(time.steady_now(), start);
  EXPECT_EQ(time.wall_now().micros, 1'000'000);
}

TEST(ManualClockTest, AdvancesBothTimesTogether) {
  manual_clock time{{1'000'000}};
  const auto start = time.steady_now();
  time.advance(90s);
  EXPECT_EQ(time.steady_now() - start, 90s);
  EXPECT_EQ(time.wall_now().micros, 91'000'000);
}

} // namespace weir
