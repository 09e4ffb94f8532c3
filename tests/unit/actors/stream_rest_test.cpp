#include "actors/support/limits.hpp"
#include "actors/upstream/stream_rest.hpp"

#include <gtest/gtest.h>

namespace weir::actors {

using namespace std::chrono_literals;

constexpr auto at_once = limits::passed_quiet_min;

// completeness.md, The terms (`upstream_live`): limits::catch_up_quiet_min, and
// not a microsecond less; rest before the connection does not count
TEST(stream_rest, a_connection_has_caught_up_after_a_rest_and_stays_so) {
  const steady_time open{5'000'000'000};
  stream_rest x;
  x.on_open(open, false);
  x.on_frames(steady_time{}, at_once,
              open + (limits::catch_up_quiet_min - 1us));
  EXPECT_FALSE(x.caught_up());
  x.on_frames(std::nullopt, at_once, open + 1h);
  EXPECT_FALSE(x.caught_up());
  x.on_frames(open, at_once, open + limits::catch_up_quiet_min);
  EXPECT_TRUE(x.caught_up());
  x.on_frames(std::nullopt, at_once, open + 1h);
  EXPECT_TRUE(x.caught_up());
  x.on_open(open + 2h, false);
  EXPECT_FALSE(x.caught_up());
  EXPECT_FALSE(x.rested_at());
  x.on_open(open + 2h, true);
  EXPECT_TRUE(x.caught_up()) << "nothing older was asked for";
}

TEST(stream_rest, the_last_rest_is_remembered) {
  const steady_time open{5'000'000'000};
  stream_rest x;
  x.on_open(open, false);
  x.on_frames(open, at_once, open + (limits::passed_quiet_min - 1us));
  EXPECT_FALSE(x.rested_at());
  x.on_frames(open, at_once, open + limits::passed_quiet_min);
  EXPECT_EQ(x.rested_at(), open + limits::passed_quiet_min);
  x.on_frames(std::nullopt, at_once, open + 1h);
  EXPECT_EQ(x.rested_at(), open + limits::passed_quiet_min);
}

TEST(stream_rest, after_late_frames_a_longer_rest_counts) {
  const steady_time open{5'000'000'000};
  constexpr auto quiet_min = limits::catch_up_quiet_min + 1s;
  stream_rest x;
  x.on_open(open, false);
  x.on_frames(open, quiet_min, open + (quiet_min - 1us));
  EXPECT_FALSE(x.caught_up());
  EXPECT_FALSE(x.rested_at());
  x.on_frames(open, quiet_min, open + quiet_min);
  EXPECT_TRUE(x.caught_up());
  EXPECT_TRUE(x.rested_at());
}

} // namespace weir::actors
