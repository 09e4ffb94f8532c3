#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "tests/unit/actors/machine_frames.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace weir::actors {
namespace {

using namespace std::chrono_literals;
using namespace weir::tests;
using testing::ElementsAre;

// CONS-04, CONS-05, CONS-15
// protocol-coverage.md 1.11, 9.3
TEST(upstream_machine, first_contact_asks_from_now_and_holds_frames_until_the_stamp_is_durable) {
  stream x{row_at(0, 0)};
  ASSERT_TRUE(x.first.connect);
  EXPECT_FALSE(x.first.connect->cursor);

  const auto taken = x.take_seqs({500, 501});
  EXPECT_TRUE(taken.forward.empty());
  ASSERT_TRUE(taken.write);
  EXPECT_EQ(taken.write->first_cursor, 500u);
  EXPECT_FALSE(taken.write->reset_pending);
  EXPECT_FALSE(x.machine.stamp_durable());
  EXPECT_TRUE(x.take_seqs({502}).forward.empty());

  const auto durable = x.machine.on_row_durable(t0);
  EXPECT_THAT(seqs_of(durable), ElementsAre(500, 501, 502));
  EXPECT_EQ(durable.forward.front().since_reset(), (position{7, 1, 500}));
  // It was requested when the stream was opened.
  EXPECT_FALSE(durable.list_repos);
  EXPECT_TRUE(x.machine.stamp_durable());
  EXPECT_TRUE(x.machine.live());
  EXPECT_THAT(seqs_of(x.take_seqs({503})), ElementsAre(503));
}

// protocol-coverage.md 1.9, 1.10
TEST(upstream_machine, a_restart_before_anything_was_done_asks_just_ahead_of_the_first_frame) {
  stream x{row_at(0, 500)};
  EXPECT_EQ(x.first.connect->cursor, 499u);
}

// CONS-15; protocol-coverage.md 1.12, 10.14
TEST(upstream_machine, outdated_cursor_makes_the_next_sequenced_frame_the_first_one) {
  stream x;
  const auto info = x.take({info_frame("OutdatedCursor")});
  EXPECT_FALSE(info.list_repos);
  EXPECT_EQ(info.alerts.size(), 1u);
  ASSERT_TRUE(info.write);
  EXPECT_TRUE(info.write->reset_pending);
  EXPECT_EQ(info.write->epoch, 2u);
  EXPECT_FALSE(x.machine.live());
  EXPECT_TRUE(x.machine.on_row_durable(t0).list_repos);
  EXPECT_TRUE(x.machine.live());

  const auto event = x.take({identity_frame(900)});
  EXPECT_TRUE(event.forward.empty());
  ASSERT_TRUE(event.write);
  EXPECT_EQ(event.write->first_cursor, 900u);
  EXPECT_FALSE(event.write->reset_pending);
  const auto durable = x.machine.on_row_durable(t0);
  ASSERT_EQ(durable.forward.size(), 1u);
  EXPECT_EQ(durable.forward[0].since_reset(), (position{7, 2, 900}));
  EXPECT_FALSE(durable.list_repos);
}

// CONS-15: a crash in between must not lose the reset
// protocol-coverage.md 1.12
TEST(upstream_machine, a_pending_reset_survives_a_restart) {
  auto row = row_at(10, 0);
  row.epoch = 2;
  row.reset_pending = true;
  stream x{row};
  EXPECT_EQ(x.first.connect->cursor, 10u);
  const auto taken = x.take_seqs({40});
  ASSERT_TRUE(taken.write);
  EXPECT_EQ(taken.write->first_cursor, 40u);
  EXPECT_EQ(taken.write->epoch, 2u);
}

// CONS-15: the row of an older stamp does not release frames of a newer one
TEST(upstream_machine, a_reset_during_the_write_of_a_stamp_waits_for_its_own_row) {
  stream x{row_at(0, 0)};
  ASSERT_TRUE(x.take_seqs({500}).write);
  x.take({info_frame("OutdatedCursor")});
  EXPECT_FALSE(x.take_seqs({900}).write); // One write at a time.
  const auto older = x.machine.on_row_durable(t0);
  EXPECT_TRUE(older.forward.empty());
  ASSERT_TRUE(older.write);
  EXPECT_EQ(older.write->first_cursor, 900u);
  EXPECT_FALSE(x.machine.stamp_durable());
  const auto newer = x.machine.on_row_durable(t0);
  EXPECT_THAT(seqs_of(newer), ElementsAre(500, 900));
  EXPECT_TRUE(newer.list_repos);
}

// protocol-coverage.md 1.12: any other #info is only logged
TEST(upstream_machine, an_unknown_info_changes_nothing) {
  stream x;
  const auto out = x.take({info_frame("Hello")});
  EXPECT_FALSE(out.write);
  EXPECT_FALSE(out.list_repos);
  EXPECT_EQ(out.alerts.size(), 1u);
  EXPECT_EQ(x.machine.counters().resets, 0u);
}

// protocol-coverage.md 1.13, 1.11
TEST(upstream_machine, future_cursor_resets_to_a_new_epoch_and_the_oldest_event) {
  stream x{row_at(1'000, 1)};
  x.take_seqs({1'001});
  const auto out = x.take({error_frame("FutureCursor")});
  EXPECT_TRUE(out.disconnect);
  ASSERT_TRUE(out.write);
  EXPECT_EQ(out.write->epoch, 2u);
  EXPECT_EQ(out.write->cursor, 0u);
  EXPECT_TRUE(out.write->reset_pending);
  EXPECT_EQ(x.machine.in_flight(), 1u) << "until the node has done with it";
  x.machine.on_row_durable(t0);
  EXPECT_EQ(redial_cursor(x, t0), 0u);

  x.machine.on_open(t0);
  x.take_seqs({3});
  const auto durable = x.machine.on_row_durable(t0);
  ASSERT_EQ(durable.forward.size(), 1u);
  EXPECT_EQ(durable.forward[0].at, (position{7, 2, 3}));
  // A finished frame with an old seq moves nothing.
  x.machine.on_done(1, {3}, t0);
  EXPECT_EQ(x.machine.row().cursor, 0u);
  x.done({3});
  EXPECT_EQ(x.machine.row().cursor, 3u);
}

// protocol-coverage.md 1.13: no silent reset unless the policy permits it
TEST(upstream_machine, future_cursor_stops_the_stream_when_so_configured) {
  upstream_options options;
  options.on_future_cursor = future_cursor_policy::stop;
  stream x{row_at(1'000, 1), options};
  const auto out = x.take({error_frame("FutureCursor")});
  EXPECT_TRUE(out.stopped);
  EXPECT_TRUE(out.disconnect);
  EXPECT_EQ(x.machine.row().cursor, 1'000u);
  const auto closed
    = x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
  EXPECT_FALSE(closed.timer);
  EXPECT_FALSE(x.machine.on_timer(t0 + 1h).connect);
}

// protocol-coverage.md 1.14, 1.15, 1.5, 10.14
TEST(upstream_machine, any_other_error_frame_closes_and_keeps_the_position) {
  stream x;
  const auto out = x.take({error_frame("ConsumerTooSlow"), account_frame(11)});
  EXPECT_TRUE(out.disconnect);
  EXPECT_TRUE(out.forward.empty()); // The connection ends with the error.
  EXPECT_EQ(x.machine.row().epoch, 1u);
  EXPECT_EQ(redial_cursor(x, t0), 10u);
}

// protocol-coverage.md 1.2
TEST(upstream_machine, a_host_without_the_endpoint_is_never_asked_again) {
  stream x;
  EXPECT_TRUE(x.machine.on_closed({1, fail(ec::unreachable), 501, 0s}, 0, t0)
                .stopped);
  EXPECT_FALSE(x.machine.on_timer(t0 + 1h).connect);
}

// protocol-coverage.md 1.8: at the limit and one past
// protocol-coverage.md 11.8
TEST(upstream_machine, ten_regressions_end_the_connection) {
  stream x;
  x.take_seqs({20});
  for (size_t i = 1; i < limits::seq_regressions_max; ++i) {
    const auto out = x.take_seqs({20});
    EXPECT_FALSE(out.disconnect) << i;
    EXPECT_TRUE(out.forward.empty());
  }
  EXPECT_EQ(x.take_seqs({19}).disconnect,
            "its numbers went back again and again");
  x.reopen(); // This is counted for each connection.
  x.take_seqs({21});
  EXPECT_FALSE(x.take_seqs({21}).disconnect);
}

// protocol-coverage.md 1.9: servers may begin with the cursor itself
// protocol-coverage.md 11.1
TEST(upstream_machine, a_first_frame_equal_to_the_cursor_is_dropped_in_silence) {
  stream x;
  const auto out = x.take_seqs({10, 11});
  EXPECT_THAT(seqs_of(out), ElementsAre(11));
  for (size_t i = 1; i < limits::seq_regressions_max; ++i)
    EXPECT_FALSE(x.take_seqs({11}).disconnect) << "it was no regression";
}

// CONS-16 off: gaps are normal
// protocol-coverage.md 1.8, 11.10
TEST(upstream_machine, a_gap_after_a_reconnect_is_no_reset) {
  stream x;
  EXPECT_THAT(seqs_of(x.take_seqs({50})), ElementsAre(50));
  EXPECT_EQ(x.machine.counters().resets, 0u);
}

// CONS-16 on: only the first frame of a connection, only a gap
TEST(upstream_machine, a_gap_counts_as_a_reset_when_seqs_are_said_to_be_contiguous) {
  upstream_options options;
  options.assume_contiguous_seq = true;
  stream gap{row_at(10, 1), options};
  const auto out = gap.take_seqs({12});
  EXPECT_TRUE(out.forward.empty());
  ASSERT_TRUE(out.write);
  EXPECT_EQ(out.write->first_cursor, 12u);
  EXPECT_EQ(out.write->epoch, 2u);
  stream next{row_at(10, 1), options};
  EXPECT_THAT(seqs_of(next.take_seqs({11, 20})), ElementsAre(11, 20));
  EXPECT_EQ(next.machine.counters().resets, 0u);
}

// CONS-23; protocol-coverage.md 1.10
TEST(upstream_machine, the_low_water_mark_waits_for_the_oldest_frame) {
  stream x;
  x.take_seqs({11, 13, 20});
  x.done({20});
  EXPECT_EQ(x.machine.row().cursor, 10u);
  x.done({13});
  EXPECT_EQ(x.machine.row().cursor, 10u);
  x.done({11});
  EXPECT_EQ(x.machine.row().cursor, 20u);
  EXPECT_EQ(x.machine.in_flight(), 0u);
  EXPECT_EQ(x.machine.in_flight_bytes(), 0u);
}

// CONS-04, CONS-23: the cursor is written last, and once in each interval
TEST(upstream_machine, the_cursor_is_written_once_per_interval) {
  stream x;
  x.take_seqs({11, 12});
  const auto early = t0 + limits::cursor_write_interval + -1us;
  EXPECT_FALSE(x.done({11}, early).write);
  EXPECT_FALSE(x.machine.on_timer(early).write) << "it was one of credit";
  const auto due = x.done({12}, t0 + limits::cursor_write_interval);
  ASSERT_TRUE(due.write);
  EXPECT_EQ(due.write->cursor, 12u);
  x.take_seqs({13});
  EXPECT_FALSE(x.done({13}, t0 + 1h).write); // One write is in progress.
  x.machine.on_row_durable(t0 + 1h);
  EXPECT_TRUE(x.machine.on_timer(t0 + 2h).write);
}

// The duration of a write does not delay the next one by another interval.
TEST(upstream_machine, the_cursor_is_written_at_every_timer_of_an_interval) {
  stream x;
  auto now = t0;
  for (int64_t seq = 11; seq < 15; ++seq) {
    x.take_seqs({seq}, now);
    x.done({static_cast<uint64_t>(seq)}, now);
    now = now + limits::cursor_write_interval;
    EXPECT_TRUE(x.machine.on_timer(now).write) << seq;
    x.machine.on_row_durable(now + 5ms);
  }
}

// architecture.md, Limits: window in frames, at the limit and one past
TEST(upstream_machine, credit_in_frames_never_exceeds_the_window) {
  upstream_options options;
  options.frames_max = 16;
  stream x{row_at(10, 1), options};
  EXPECT_EQ(x.opened.grant_frames, 16u);
  std::vector<int64_t> seqs;
  for (int64_t seq = 11; seq < 27; ++seq)
    seqs.push_back(seq);
  EXPECT_EQ(x.take_seqs(seqs).grant_frames, 0u);
  EXPECT_EQ(x.machine.in_flight(), 16u);
  EXPECT_EQ(x.done({12}).grant_frames, 0u); // This is not the oldest frame.
  EXPECT_EQ(x.done({11}).grant_frames, 2u);
}

// architecture.md, Limits: window in bytes, at the limit and one past
TEST(upstream_machine, credit_in_bytes_never_exceeds_the_window) {
  const auto size = account_frame(11).size();
  upstream_options options;
  options.bytes_max = 2 * size;
  stream x{row_at(10, 1), options};
  EXPECT_EQ(x.opened.grant_bytes, 2 * size);
  EXPECT_EQ(x.take_seqs({11, 12}).grant_bytes, 0u);
  EXPECT_EQ(x.machine.in_flight_bytes(), 2 * size);
  const auto out = x.done({11});
  EXPECT_EQ(out.grant_bytes, size);
}

// architecture.md, Limits: a few large frames must not end the flow of credit
TEST(upstream_machine, a_drained_byte_window_is_given_out_again_in_full) {
  const auto size = account_frame(11).size();
  upstream_options options;
  options.bytes_max = 2 * size;
  stream x{row_at(10, 1), options};
  x.take_seqs({11, 12});
  EXPECT_EQ(x.done({11, 12}).grant_bytes, 2 * size);
}

// protocol-coverage.md 1.3: 1 s, doubling to 60 s; a frame with progress resets
// it
TEST(upstream_machine, back_off_doubles_to_a_minute_and_resets_after_a_frame) {
  stream x;
  for (const auto expected : {1s, 2s, 4s, 8s, 16s, 32s, 60s, 60s}) {
    const auto out
      = x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
    ASSERT_TRUE(out.timer);
    EXPECT_EQ(*out.timer - t0, expected);
    EXPECT_FALSE(x.machine.on_timer(*out.timer + -1us).connect);
    EXPECT_TRUE(x.machine.on_timer(*out.timer).connect);
  }
  x.machine.on_open(t0); // An open connection alone proves nothing.
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
  x.machine.on_open(t0);
  x.take_seqs({11});
  EXPECT_EQ(*x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0).timer
              - t0,
            1s);
}

// protocol-coverage.md 1.2: Retry-After
TEST(upstream_machine, a_host_that_asks_for_time_gets_it) {
  stream x;
  EXPECT_EQ(*x.machine.on_closed({1, fail(ec::unreachable), 429, 90s}, 0, t0)
               .timer
              - t0,
            90s);
}

// CONS-04, CONS-23: frames that were lost in the node are read again
// protocol-coverage.md 1.10
TEST(upstream_machine, lost_frames_are_asked_for_again_from_the_low_water_mark) {
  stream x;
  x.take_seqs({11, 12});
  x.done({11});
  EXPECT_TRUE(x.machine.on_lost(t0).disconnect);
  EXPECT_EQ(redial_cursor(x, t0), 11u);
  x.machine.on_open(t0);
  EXPECT_THAT(seqs_of(x.take_seqs({12})), ElementsAre(12));
}

TEST(upstream_machine, frames_of_a_connection_that_was_given_up_are_not_taken) {
  stream x;
  x.take_seqs({11, 12});
  EXPECT_TRUE(x.machine.on_lost(t0).disconnect);
  EXPECT_TRUE(x.take_seqs({13}).forward.empty()); // It was in the mailbox.
  x.done({13});
  EXPECT_EQ(redial_cursor(x, t0), 10u);
  x.machine.on_open(t0);
  EXPECT_THAT(seqs_of(x.take_seqs({11, 12, 13})), ElementsAre(11, 12, 13));
}

// CONS-24: one comparison for each stamp, not for each connection
// protocol-coverage.md 9.3
TEST(upstream_machine, a_stream_that_resumes_lists_once) {
  stream x{row_at(10, 5)};
  EXPECT_TRUE(x.opened.list_repos);
  x.reopen();
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0);
  EXPECT_FALSE(x.machine.on_open(t0).list_repos);
}

// -- how far it is (protocol-coverage.md 2.1.2) -------------------------------

TEST(upstream_machine, it_is_quiet_while_it_is_open_and_nothing_is_in_flight) {
  stream x;
  EXPECT_EQ(x.machine.quiet_since(), t0);
  x.take_seqs({11, 12}, t0 + 1s);
  EXPECT_FALSE(x.machine.quiet_since());
  x.done({11}, t0 + 2s);
  EXPECT_FALSE(x.machine.quiet_since());
  x.done({12}, t0 + 3s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 3s);
  x.done({}, t0 + 4s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 3s);
  x.take({info_frame("Something")}, t0 + 5s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 5s);
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0 + 6s);
  EXPECT_FALSE(x.machine.quiet_since());
  x.machine.on_open(t0 + 7s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 7s);
}

} // namespace
} // namespace weir::actors
