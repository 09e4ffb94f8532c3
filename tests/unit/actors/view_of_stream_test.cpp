#include "actors/support/limits_health.hpp"
#include "actors/upstream/view_of_stream.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gtest/gtest.h>

// What people and other actors can see of a stream.
namespace weir::tests {
namespace {

upstream_view view_shown(const stream& x, steady_time now = t0) {
  return view_of(x.machine, true, now, {});
}

stream_closed closed_by_reset(std::chrono::seconds retry_after = 0s) {
  return {1, fail(ec::unreachable, "reset"), 0, retry_after};
}

TEST(view_of_stream, it_says_why_a_connection_ended_until_the_next_one_opens) {
  stream x;
  EXPECT_EQ(view_shown(x).last_error, "");
  x.machine.note_end(closed_by_reset());
  x.machine.on_closed(closed_by_reset(), 0, t0);
  EXPECT_EQ(view_shown(x).last_error, "unreachable: reset");
  EXPECT_FALSE(view_shown(x).connected);
  EXPECT_TRUE(view_shown(x).opened);
  x.machine.on_open(t0);
  EXPECT_EQ(view_shown(x).last_error, "");
}

TEST(view_of_stream, why_this_node_hung_up_comes_before_what_the_socket_says) {
  stream x;
  x.take({garbage()});
  x.machine.note_end(closed_by_reset());
  EXPECT_TRUE(view_shown(x).last_error.starts_with("bad frame: "));
  x.reopen();
  x.machine.note_end(closed_by_reset());
  EXPECT_EQ(view_shown(x).last_error, "unreachable: reset")
    << "it is said once";
}

// limits::health_rest_min, and a second less
TEST(view_of_stream, a_host_that_asks_for_a_long_rest_is_told_of) {
  constexpr auto least = limits::health_rest_min;
  stream x;
  x.machine.note_end(closed_by_reset(least - 1s));
  EXPECT_EQ(view_shown(x).last_error, "unreachable: reset");
  x.machine.note_end(closed_by_reset(least));
  EXPECT_EQ(view_shown(x).last_error,
            "unreachable: reset; it asked not to be dialled for "
              + std::to_string(least.count()) + " seconds");
}

TEST(view_of_stream, a_stream_that_ended_for_good_says_why) {
  stream x;
  const stream_closed refused{1, fail(ec::not_found), 501, 0s};
  x.machine.note_end(refused);
  const auto stopped = x.machine.on_closed(refused, 0, t0).stopped;
  EXPECT_EQ(stopped, view_shown(x).last_error);
  EXPECT_NE(view_shown(x).last_error.find("501"), std::string::npos);
}

TEST(view_of_stream, a_socket_that_is_never_read_says_so) {
  stream x;
  auto now = t0;
  for (size_t i = 1; i <= limits::health_stalls_min; ++i) {
    EXPECT_FALSE(view_shown(x, now).stalls);
    x.machine.on_look(false, now);
    now = now + limits::credit_stall_max;
    EXPECT_TRUE(x.machine.on_look(false, now).disconnect);
    x.machine.on_closed(closed_by_reset(), 0, now);
    x.machine.on_open(now);
  }
  EXPECT_TRUE(view_shown(x, now).stalls);
  EXPECT_EQ(view_shown(x, now).last_error,
            "its socket is not read although nothing prevents it, again and "
            "again");
}

// limits::health_bad_frames_min, limits::health_memory
TEST(view_of_stream, a_stream_of_bad_frames_alone_is_unreadable_for_a_while) {
  stream x;
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    x.take({garbage()});
    x.reopen();
  }
  for (size_t i = 1; i <= limits::health_bad_frames_min; ++i) {
    EXPECT_FALSE(view_shown(x).unreadable) << i;
    x.take({garbage()});
  }
  EXPECT_TRUE(view_shown(x).unreadable);
  EXPECT_TRUE(view_shown(x).stalls);
  EXPECT_EQ(view_shown(x).last_error, "its frames cannot be read");
  const auto end = t0 + limits::health_memory;
  EXPECT_TRUE(view_shown(x, end).unreadable);
  x.take({account_frame(10)}, end); // Known already, and readable.
  EXPECT_FALSE(view_shown(x, end + 1us).unreadable);
  x.take_seqs({12});
  EXPECT_FALSE(view_shown(x).unreadable);
}

TEST(view_of_stream, a_stamp_is_shown_once_it_is_durable) {
  stream x{row_at(0, 0)};
  x.take_seqs({500});
  EXPECT_EQ(view_shown(x).first_cursor, 0u);
  x.machine.on_row_durable(t0);
  EXPECT_EQ(view_shown(x).first_cursor, 500u);
}

TEST(view_of_stream, one_that_asked_for_new_events_has_caught_up_while_open) {
  EXPECT_FALSE(view_shown(stream{}).caught_up);
  stream x{row_at(0, 0)};
  EXPECT_TRUE(view_shown(x).caught_up);
  x.machine.on_closed(closed_by_reset(), 0, t0);
  EXPECT_FALSE(view_shown(x).caught_up);
}

} // namespace
} // namespace weir::tests
