#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/stream_arrivals.hpp"

#include <gtest/gtest.h>

// completeness.md, Asking: a stream that is behind and makes pauses is not
// quiet. In these tests the steady clock is 0 when the wall clock is `day`.
namespace weir::actors {

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;

constexpr wall_time day{1'700'000'000'000'000};
constexpr auto in_time = limits::frame_delay_max;
constexpr auto late = in_time + 1us;

/// The arrivals of a stream, with a clock that may be wrong.
class stream_arrivals_test : public testing::Test {
protected:
  /// A frame comes `after` the last one, `delay` after its repo changed.
  void come(microseconds after, microseconds delay) {
    now = now + after;
    x.on_batch();
    x.add(day + (microseconds{now.micros} - delay), now);
  }

  void come(size_t count, microseconds after, microseconds delay) {
    for (size_t i = 0; i < count; ++i)
      come(after, delay);
  }

  microseconds quiet_min() const { return x.quiet_min(now, wall()); }

  bool is_late() const { return x.is_late(now, wall()); }

  wall_time wall() const {
    return day + (microseconds{now.micros} + clock_ahead);
  }

  stream_arrivals x{true};
  steady_time now{3'600'000'000};
  microseconds clock_ahead{0};
};

} // namespace

TEST_F(stream_arrivals_test, after_frames_in_time_a_short_silence_is_enough) {
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min) << "nothing came";
  come(100, 20s, in_time);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
  EXPECT_FALSE(is_late());
}

// limits::frame_delay_max, limits::late_quiet_min
TEST_F(stream_arrivals_test, after_late_ones_it_takes_longer) {
  come(limits::passed_frames, 1ms, late);
  EXPECT_EQ(quiet_min(), limits::late_quiet_min);
  EXPECT_TRUE(is_late());
}

// limits::quiet_by_delay_max
TEST_F(stream_arrivals_test, the_longer_the_later_they_were) {
  come(1ms, 5min);
  EXPECT_EQ(quiet_min(), microseconds{5min} / limits::quiet_delay_part);
  come(1ms, 10min);
  come(1ms, 10min);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  come(10, 1ms, 100h);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
}

// limits::late_quiet_max: 4,000 bytes a second of events that are made ten
// times as fast
TEST_F(stream_arrivals_test, and_the_more_they_fell_behind_in_one_pause) {
  auto delay = microseconds{1min};
  for (int i = 0; i < 10; ++i)
    come(10s, delay += 9s);
  EXPECT_EQ(quiet_min(), limits::quiet_growth_factor * 9s);
  come(100s, delay += 90s);
  EXPECT_EQ(quiet_min(), limits::late_quiet_max);
}

TEST_F(stream_arrivals_test, such_a_pause_is_forgotten_after_some_minutes) {
  come(40, 1s, 1min);
  come(30s, 90s);
  EXPECT_EQ(quiet_min(), limits::quiet_growth_factor * 30s);
  come(290, 1s, 90s);
  EXPECT_EQ(quiet_min(), limits::quiet_growth_factor * 30s);
  come(400, 1s, 90s);
  EXPECT_EQ(quiet_min(), limits::late_quiet_min);
}

// A host was silent for long, and everything is fetched at once
TEST_F(stream_arrivals_test, what_is_fetched_quickly_makes_no_such_pauses) {
  for (auto delay = microseconds{20min}; delay > 10min; delay -= 1s)
    come(1ms, delay);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  come(10h, 0s);
  EXPECT_FALSE(is_late());
  come(limits::passed_frames, 10s, 0s);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
}

// limits::late_frames_min
TEST_F(stream_arrivals_test, a_few_late_ones_are_enough_and_one_is_not) {
  come(limits::passed_frames, 1ms, 0s);
  come(limits::late_frames_min - 1, 1ms, 1h);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
  come(1ms, 1h);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  come(1ms, 0s);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
}

// A few future revs do not make a late stream appear up to date.
TEST_F(stream_arrivals_test, the_middle_one_counts_as_well) {
  come(limits::passed_frames, 1ms, 1h);
  come(limits::passed_frames / 2, 1ms, -24h);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  come(1ms, -24h);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
}

TEST_F(stream_arrivals_test, frames_without_a_time_say_nothing) {
  come(limits::passed_frames, 1ms, 1h);
  for (size_t i = 0; i < 2 * limits::passed_frames; ++i)
    x.add({}, now);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  EXPECT_TRUE(is_late());
}

// Otherwise a late stream that is cut before its first frame would be quiet.
TEST_F(stream_arrivals_test, what_is_late_stays_so_over_connections) {
  come(limits::passed_frames, 1ms, 1h);
  x.on_open();
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  EXPECT_FALSE(is_late()) << "nothing came yet";
  come(1h, 2h);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max) << "no pause before it";
  come(limits::passed_frames, 1ms, 0s);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
}

// Frames that came with a wrong clock are judged with the right one.
TEST_F(stream_arrivals_test, a_clock_that_was_wrong_leaves_nothing) {
  clock_ahead = 1h;
  come(limits::passed_frames, 1s, 0s);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
  clock_ahead = 0s;
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
  EXPECT_FALSE(is_late());
}

// Of frames that come together the first one shows whether frames waited.
TEST_F(stream_arrivals_test, the_frame_that_ends_a_silence_says_if_it_was_one) {
  for (const auto first_is_late : {true, false}) {
    come(1min, first_is_late ? late : 0us);
    x.add(wall() + -(first_is_late ? microseconds{0} : late), now);
    EXPECT_EQ(is_late(), first_is_late);
    x.on_batch();
    x.add({}, now);
    EXPECT_EQ(is_late(), first_is_late) << "a frame without a time";
  }
}

// limits::frame_delay_jitter
TEST_F(stream_arrivals_test, a_host_whose_clock_is_slow_is_not_late) {
  x = stream_arrivals{false};
  come(1 + limits::passed_frames - 1, 1min, 1h);
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max) << "not known yet";
  come(1min, 1h - limits::frame_delay_jitter);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min);
  x.on_open();
  come(1min, 1h);
  EXPECT_EQ(quiet_min(), limits::passed_quiet_min) << "nor when it comes again";
  come(limits::passed_frames, 1s, 1h + in_time);
  EXPECT_TRUE(is_late());
  EXPECT_EQ(quiet_min(), limits::late_quiet_min);
}

TEST_F(stream_arrivals_test, one_that_catches_up_slowly_is_late) {
  for (const auto& faster : {limits::frame_delay_jitter + 1us,
                             limits::frame_delay_jitter / 10}) {
    x = stream_arrivals{false};
    auto delay = microseconds{10h};
    for (size_t i = 0; i < 10 * limits::passed_frames; ++i) {
      come(1s, delay -= faster);
      ASSERT_TRUE(is_late()) << i;
    }
  }
}

TEST_F(stream_arrivals_test, nor_is_a_relay_believed_to_have_a_slow_clock) {
  come(10 * limits::passed_frames, 1min, 1h);
  EXPECT_TRUE(is_late());
  EXPECT_EQ(quiet_min(), limits::quiet_by_delay_max);
}

} // namespace weir::actors
