#include "apps/weir/stop_signal.hpp"

#include <gtest/gtest.h>

#include <csignal>
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

// A node that starts anew must not forget that it was told to end.
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

TEST(StopSignalTest, AWatchdogThatIsDismissedDoesNothing) {
  { const watchdog x{3600s}; }
  SUCCEED();
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
