#include "apps/weir/stop_signal.hpp"
#include "base/log.hpp"
#include "tests/support/full_pipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <string>
#include <termios.h>
#include <thread>
#include <unistd.h>

namespace weir::apps {

using namespace std::chrono_literals;

namespace {

/// After this time a process that should have been ended gets SIGALRM.
constexpr unsigned hang_seconds = 60;

[[noreturn]] void hang() {
  alarm(hang_seconds);
  for (;;)
    pause();
}

/// A terminal that nobody reads, with room for some hundred characters.
int open_crowded_terminal() {
  int ours = -1;
  int terminal = -1;
  termios how{};
  cfmakeraw(&how);
  if (openpty(&ours, &terminal, nullptr, &how, nullptr) != 0)
    return -1;
  const auto flags = fcntl(terminal, F_GETFL);
  fcntl(terminal, F_SETFL, flags | O_NONBLOCK);
  std::array<char, 256> piece{};
  while (write(terminal, piece.data(), piece.size()) > 0)
    ;
  fcntl(terminal, F_SETFL, flags);
  // What is read reaches the other end a moment later.
  pollfd room{terminal, POLLOUT, 0};
  for (int wait_ms = 0; poll(&room, 1, wait_ms) == 0; wait_ms = 100)
    if (read(ours, piece.data(), piece.size()) <= 0)
      return -1;
  return terminal;
}

[[noreturn]] void log_until_it_hangs() {
  const std::string part(2'000, 'x');
  for (;;) {
    dup2(open_crowded_terminal(), STDERR_FILENO);
    log::error("a line", {{"part", part}, {"next", part}, {"last", part}});
  }
}

/// Whether the one who watches knows that the program must end. It does not
/// wait for that, because it was given up before.
bool is_seen(const stop_signal& x) {
  std::stop_source given_up;
  given_up.request_stop();
  return x.watch(given_up.get_token());
}

} // namespace

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

// The main thread may be busy with a start or a stop and read no signal.
TEST(StopSignalTest, WhoWatchesSeesAnEndThatNobodyReads) {
  for (const int signal : {SIGTERM, SIGINT}) {
    stop_signal stop;
    EXPECT_FALSE(is_seen(stop));
    ASSERT_EQ(kill(getpid(), signal), 0);
    EXPECT_TRUE(is_seen(stop));
    EXPECT_TRUE(stop.wait_for(10s)); // It was not taken away.
    EXPECT_TRUE(is_seen(stop));      // Nor is it forgotten.
  }
  stop_signal stop;
  stop.fail(fail(ec::storage_failure, "a disk"));
  EXPECT_TRUE(is_seen(stop));
}

TEST(StopSignalTest, WhoWatchesSeesAHangUpOnlyWhereItEndsTheProgram) {
  const stop_signal other{[] {}};
  ASSERT_EQ(kill(getpid(), SIGHUP), 0);
  EXPECT_FALSE(is_seen(other));
  stop_signal stop;
  EXPECT_TRUE(is_seen(stop));
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
    testing::ExitedWithCode(1), "did not end within");
}

// Nobody waits for the signal: the main thread hangs, for example in a start.
TEST(WatchdogDeathTest, ItsTimeBeginsWhenTheProgramMustEnd) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
    {
      const stop_signal stop;
      // A comma within braces would end the argument of the macro.
      const watchdog x(stop, 0s);
      kill(getpid(), SIGTERM);
      hang();
    },
    testing::ExitedWithCode(1), "did not end within");
}

TEST(WatchdogTest, OneThatIsDismissedBeforeThatWaitsForNothing) {
  const stop_signal stop;
  const watchdog x{stop, 0s};
}

TEST(WatchdogDeathTest, AFullStandardErrorDoesNotKeepItFromItsEnd) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
    {
      const tests::full_pipe errors;
      dup2(errors.writer(), STDERR_FILENO);
      const watchdog x{0s};
      hang();
    },
    testing::ExitedWithCode(1), testing::IsEmpty());
}

// A suspended terminal may have room for the beginning of a line: it says so,
// and whoever writes the line hangs. Some are full again before that, so
// several are tried.
TEST(WatchdogDeathTest, AThreadThatHangsInTheLogDoesNotKeepItFromItsEnd) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
    {
      const watchdog x{2s};
      alarm(hang_seconds);
      log_until_it_hangs();
    },
    testing::ExitedWithCode(1), testing::IsEmpty());
}

} // namespace weir::apps
