#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "simnet/network.hpp"
#include "tests/system/watched_node.hpp"

// architecture.md, A wrong clock
namespace weir::tests {

namespace {

using namespace std::chrono_literals;

class WrongClockTest : public WatchedNodeTest {
protected:
  using WatchedNodeTest::WatchedNodeTest;

  /// Makes one commit of each account.
  void commit_everywhere() {
    for (size_t i = 0; i < accounts; ++i)
      net.life().traffic().post(i);
  }

  uint64_t fetches_failed() {
    return metric("weir_backfill_finished_total", "result=\"failed\"");
  }

  size_t in_error() {
    const auto all = errors();
    size_t out = 0;
    for (auto at = all.find("\"did:"); at != std::string::npos;
         at = all.find("\"did:", at + 1))
      ++out;
    return out;
  }

  uint64_t cursor() { return metric("weir_upstream_cursor"); }
  uint64_t refused() {
    return metric("weir_repo_events_total", "result=\"future_rev\"");
  }
};

/// The streams of many hosts, each of which has too few accounts to show that
/// the clock is wrong.
class WrongClockOfSmallHostsTest : public WrongClockTest {
protected:
  static constexpr size_t hosts = 12;
  static_assert(accounts < hosts * limits::clock_signers_min / 2);

  WrongClockOfSmallHostsTest() : WrongClockTest(hosts) {
    config.upstreams.clear();
    for (const auto& url : net.urls().hosts)
      config.upstreams.push_back({url, false});
  }
};

} // namespace

// limits::clock_small_hosts_min
TEST_F(WrongClockOfSmallHostsTest, TogetherTheySayThatItIsBehind) {
  start();
  ASSERT_TRUE(await_all_equal());
  commit_everywhere();
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  time.shift(-1h);
  commit_everywhere();
  ASSERT_TRUE(await_cause("clock", "", "about 60 minutes ahead"));
  EXPECT_TRUE(eventually(node_patience,
                         [this] { return metric("weir_intake_level") == 2u; }));
  EXPECT_EQ(refused(), 0u);
  time.shift(0s);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(refused(), 0u);
}

// protocol-coverage.md 2.1.4
TEST_F(WrongClockTest, WhileItIsBehindNothingIsLostAndNothingIsDone) {
  static_assert(accounts > limits::clock_signers_min);
  start();
  ASSERT_TRUE(await_all_equal());
  commit_everywhere(); // From here on the position is known.
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  const auto before = cursor();
  time.shift(-1h);
  commit_everywhere();
  ASSERT_TRUE(await_cause("clock", "", "about 60 minutes ahead"));
  EXPECT_TRUE(eventually(node_patience,
                         [this] { return metric("weir_intake_level") == 2u; }));
  EXPECT_EQ(cursor(), before);
  stop();
  start();
  ASSERT_TRUE(await_cause("clock", "", "about 60 minutes ahead"));
  EXPECT_LE(cursor(), before);
  EXPECT_EQ(refused(), 0u);
  time.shift(0s);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  EXPECT_EQ(metric("weir_repo_events_total", "result=\"applied\""), accounts);
  EXPECT_EQ(refused(), 0u);
  EXPECT_EQ(warnings("unhealthy", "clock"), 2u) << "one in each life";
  EXPECT_EQ(warnings("healthy_again", "clock"), 1u);
}

// More than a window of frames: some give way, and their repos are fetched
TEST_F(WrongClockTest, NorIsAnythingLostOfWhatItsStreamHasNoRoomFor) {
  start();
  ASSERT_TRUE(await_all_equal());
  time.shift(-1h);
  for (size_t i = 0; i <= limits::upstream_frames_max / accounts; ++i)
    commit_everywhere();
  ASSERT_TRUE(await_cause("clock", "", "about 60 minutes ahead"));
  EXPECT_EQ(metric("weir_repo_events_total", "result=\"out_of_sync\""), 0u);
  time.pass(limits::clock_hold);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return metric("weir_repo_events_total", "result=\"out_of_sync\"") > 0;
  }));
  EXPECT_EQ(refused(), 0u);
  time.shift(0s);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
}

// protocol-coverage.md 5.2: a fetched root is signed, too
TEST_F(WrongClockTest, WhatIsFetchedIsEvidenceAndIsFetchedAgain) {
  commit_everywhere();
  time.shift(-1h);
  start();
  ASSERT_TRUE(await_cause("clock", "", "minutes ahead"));
  EXPECT_EQ(equal_to_source(), 0u);
  time.shift(0s);
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
}

// The same with the default back-off: a repo that is put off while frames wait
// does not wait for that either
TEST_F(WrongClockTest, WhatWasPutOffIsFetchedWithinSecondsOfARightClock) {
  const actors::node_config standard;
  config.retry_backoff_min = standard.retry_backoff_min;
  config.retry_backoff_max = standard.retry_backoff_max;
  commit_everywhere();
  time.shift(-10min);
  start();
  ASSERT_TRUE(await_cause("clock", "", "about 10 minutes ahead"));
  const auto before = fetches_failed();
  time.pass(limits::clock_hold);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return fetches_failed() >= before + limits::clock_signers_min;
  }));
  EXPECT_EQ(equal_to_source(), 0u);
  EXPECT_LT(in_error(), accounts) << "nobody was put off";
  time.shift(0s);
  EXPECT_TRUE(eventually(config.retry_backoff_min / 3, [this] {
    return equal_to_source() == accounts;
  })) << equal_to_source();
  ASSERT_TRUE(await_ready());
}

// Too few signers to show that the clock is wrong: their repos report the
// error, and are fetched as soon as the clock is right
TEST_F(WrongClockTest, AFewThatAreRefusedAreNotSyncedAndHealWithTheClock) {
  config.retry_backoff_min = config.retry_backoff_max = 1h;
  config.listing_requests_per_hour = 1; // No listing may find them.
  start();
  ASSERT_TRUE(await_all_equal());
  commit_everywhere();
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(eventually(node_patience, [this] {
    // The start of the stream is a position.
    return metric("weir_listing_finished_total") == 1;
  }));
  time.shift(-1h);
  constexpr size_t few = 3;
  for (size_t i = 0; i < few; ++i)
    net.life().traffic().post(i);
  ASSERT_TRUE(eventually(node_patience, [this] {
    return errors().find("future_rev") != std::string::npos
           && metric("weir_backfill_finished_total", "result=\"failed\"")
                == few;
  })) << errors();
  EXPECT_EQ(refused(), few);
  EXPECT_EQ(equal_to_source(), accounts - few);
  time.shift(0s);
  ASSERT_TRUE(await_all_equal());
}

// With a clock that is ahead revs look old, which is permitted
TEST_F(WrongClockTest, OneThatIsAheadHarmsNothing) {
  time.shift(std::chrono::years{10});
  start();
  ASSERT_TRUE(await_all_equal());
  commit_everywhere();
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
  time.shift(0s);
  commit_everywhere();
  ASSERT_TRUE(await_all_equal());
  ASSERT_TRUE(await_ready());
}

} // namespace weir::tests
