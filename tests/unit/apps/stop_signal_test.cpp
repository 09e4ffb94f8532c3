#include "apps/weir/stop_signal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace weir::apps {

using namespace std::chrono_literals;

TEST(StopSignalTest, ASignalThatComesWhileNobodyWaitsIsNotLost) {
  stop_signal stop;
  EXPECT_FALSE(stop.requested());
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  EXPECT_TRUE(stop.wait_for(10s));
  EXPECT_TRUE(stop.requested());
  EXPECT_FALSE(stop.failure());
}

TEST(StopSignalTest, AFailureOnAnotherThreadWakesTheOneThatWaits) {
  stop_signal stop;
  std::thread other{[&stop] {
    stop.fail(fail(ec::storage_failure, "first"));
    stop.fail(fail(ec::cancelled, "second"));
  }};
  stop.wait();
  other.join();
  ASSERT_TRUE(stop.failure());
  EXPECT_EQ(stop.failure()->context, "first");
}

// A node that restarts must not forget that it was asked to stop.
TEST(StopSignalTest, ASignalBesideAFailureStaysForWhoeverWaitsNext) {
  {
    stop_signal stop;
    stop.fail(fail(ec::disk_full, "room"));
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
    stop.wait();
    EXPECT_TRUE(stop.failure());
  }
  stop_signal next;
  EXPECT_TRUE(next.wait_for(10s));
  EXPECT_FALSE(next.failure());
}

// logrotate sends it, for example.
TEST(StopSignalTest, AHangUpEndsOnlyWhoDoesNothingElseThen) {
  size_t hung_up = 0;
  {
    stop_signal stop{[&hung_up] { ++hung_up; }};
    ASSERT_EQ(kill(getpid(), SIGHUP), 0);
    EXPECT_FALSE(stop.wait_for(1ms));
    EXPECT_EQ(hung_up, 1u);
    ASSERT_EQ(kill(getpid(), SIGTERM), 0);
    EXPECT_TRUE(stop.wait_for(10s));
  }
  stop_signal stop;
  ASSERT_EQ(kill(getpid(), SIGHUP), 0);
  EXPECT_TRUE(stop.wait_for(10s));
}

// The process still exists after the time of the watchdog, which is what is
// tested, and nothing was printed.
TEST(WatchdogDeathTest, AWatchdogThatIsDismissedDoesNothing) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
    {
      const auto start = std::chrono::steady_clock::now();
      { const watchdog x{2s}; }
      const auto took = std::chrono::steady_clock::now() - start;
      std::this_thread::sleep_for(3s);
      std::exit(took < 2s ? 7 : 8);
    },
    testing::ExitedWithCode(7), testing::IsEmpty());
}

TEST(WatchdogDeathTest, AWatchdogEndsAProcessThatHangs) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
    {
      const watchdog x{0s};
      stop_signal stop;
      stop.wait();
    },
    testing::ExitedWithCode(1), "not drained");
}

} // namespace weir::apps
