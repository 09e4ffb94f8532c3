#include "actors/support/limits.hpp"
#include "actors/support/upstream_view.hpp"
#include "actors/upstream/limits.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

#include <gmock/gmock.h>

#include <numeric>

// Frames of a stream in the node when its seqs begin anew.
namespace weir::tests {
namespace {

using atproto::frame_kind;
using testing::ElementsAre;

// hostile-inputs.md 2.1.32: otherwise a host that does so repeatedly fills the
// memory
TEST(upstream_machine, frames_of_old_numbers_count_until_they_are_finished) {
  upstream_options options;
  options.frames_max = 4;
  stream x{row_at(10, 1), options};
  x.take_seqs({11, 12, 13});
  const auto bytes = x.machine.in_flight_bytes();
  const auto old = x.machine.row().epoch;
  x.take({error_frame("FutureCursor")});
  x.reopen();
  EXPECT_EQ(x.machine.in_flight(), 3u);
  EXPECT_EQ(x.machine.in_flight_bytes(), bytes);
  x.take_seqs({1, 2}); // One more than there is room for.
  EXPECT_EQ(x.machine.in_flight(), 5u);
  EXPECT_EQ(x.done({1, 2}).grant_frames, 1u) << "the new ones are not the old";
  EXPECT_EQ(x.machine.in_flight(), 3u);
  EXPECT_EQ(x.machine.on_done(old, {11, 13}, t0).grant_frames, 2u);
  EXPECT_FALSE(x.machine.quiet_since());
  x.machine.on_done(old, {12}, t0);
  EXPECT_EQ(x.machine.in_flight(), 0u);
  EXPECT_EQ(x.machine.in_flight_bytes(), 0u);
  EXPECT_TRUE(x.machine.quiet_since());
}

TEST(upstream_machine, frames_of_old_numbers_that_were_lost_do_not_count) {
  stream x;
  x.take_seqs({11, 12});
  x.take({error_frame("FutureCursor")});
  x.machine.on_lost(t0);
  EXPECT_EQ(x.machine.in_flight(), 0u);
  EXPECT_EQ(x.machine.in_flight_bytes(), 0u);
}

// No shard has them, so none would ever report them as finished.
TEST(upstream_machine, frames_of_old_numbers_that_had_no_turn_do_not_count) {
  auto row = row_at(10, 1);
  row.life = storage::stream_life::careful;
  stream x{row};
  x.take_seqs({11, 12, 13});
  EXPECT_EQ(x.machine.in_flight(), 3u);
  x.take({error_frame("FutureCursor")});
  EXPECT_EQ(x.machine.in_flight(), 0u);
  EXPECT_EQ(x.machine.in_flight_bytes(), 0u);
}

TEST(upstream_machine, a_connection_that_was_given_up_gets_no_credit) {
  upstream_options options;
  options.frames_max = 2;
  stream x{row_at(10, 1), options};
  x.take_seqs({11, 12});
  EXPECT_TRUE(x.take({garbage()}).disconnect);
  EXPECT_EQ(x.done({11, 12}).grant_frames, 0u);
  EXPECT_FALSE(x.machine.quiet_since());
  EXPECT_FALSE(x.machine.on_look(false, t0).disconnect);
  EXPECT_FALSE(x.machine.on_look(false, t0 + 1h).disconnect);
}

// protocol-coverage.md 1.6: end the connection, skip the frame after N tries
// with an alert.
// CONS-16: its content is missing from then on
TEST(upstream_machine, a_malformed_frame_is_stepped_over_on_its_third_return) {
  stream x;
  for (size_t i = 1; i < limits::bad_frame_tries_max; ++i) {
    const auto out = x.take({garbage(), account_frame(12)});
    EXPECT_TRUE(out.disconnect) << i;
    EXPECT_TRUE(out.forward.empty());
    EXPECT_EQ(x.machine.counters().resets, 0u);
    x.reopen();
  }
  const auto out = x.take({garbage(), account_frame(12)});
  EXPECT_FALSE(out.disconnect);
  EXPECT_EQ(out.alerts.size(), 1u);
  ASSERT_TRUE(out.write);
  EXPECT_EQ(out.write->epoch, 2u);
  const auto durable = x.machine.on_row_durable(t0);
  EXPECT_TRUE(durable.list_repos);
  EXPECT_THAT(seqs_of(durable), ElementsAre(12));
  EXPECT_EQ(durable.forward[0].since_reset(), (position{7, 2, 12}));
  EXPECT_EQ(x.machine.counters().skipped_bad, 1u);
  // Frames at another place are counted separately.
  EXPECT_TRUE(x.take({garbage()}).disconnect);
}

// protocol-coverage.md 1.8: it is dropped, and may be an event that is missing
TEST(upstream_machine, a_frame_that_comes_too_late_may_be_missing) {
  stream x;
  x.take_seqs({11, 13, 13});
  x.done({11});
  x.take_seqs({11});
  EXPECT_EQ(x.machine.counters().resets, 0u) << "it comes a second time";
  const auto out = x.take_seqs({12});
  EXPECT_EQ(x.machine.counters().resets, 1u);
  ASSERT_TRUE(out.write);
  EXPECT_EQ(out.write->epoch, 2u);
  EXPECT_TRUE(x.machine.on_row_durable(t0).list_repos);
}

std::vector<int64_t> signed_seqs(int64_t first, size_t count) {
  std::vector<int64_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

// hostile-inputs.md 2.1.30; limits::recent_numbers_max, and one more
TEST(upstream_machine, a_frame_that_comes_again_is_known_for_some_time) {
  stream x;
  constexpr int64_t first = 11;
  constexpr auto most = static_cast<int64_t>(limits::recent_numbers_max);
  x.take_seqs(signed_seqs(first, limits::recent_numbers_max));
  x.take_seqs({first});
  EXPECT_EQ(x.machine.counters().resets, 0u);
  x.take_seqs({first + most});
  x.take_seqs({first + 1});
  EXPECT_EQ(x.machine.counters().resets, 0u);
  x.take_seqs({first, first});
  EXPECT_EQ(x.machine.counters().resets, 1u) << "it is missed once";
}

// limits::clock_window_part, and one frame more
TEST(upstream_machine, what_waits_for_a_clock_has_a_part_of_the_frames) {
  constexpr auto part = limits::upstream_frames_max / limits::clock_window_part;
  stream x;
  x.take_seqs(signed_seqs(11, part));
  EXPECT_EQ(x.machine.gives_way(), 0u);
  x.take_seqs({11 + part});
  EXPECT_EQ(x.machine.gives_way(), 11u) << "the oldest";
  x.take_seqs(signed_seqs(12 + part, part - 1));
  EXPECT_EQ(x.machine.gives_way(), 10 + part);
  x.done({11, 12});
  EXPECT_EQ(x.machine.gives_way(), 10 + part) << "of those that are left";
}

// The same in bytes: the older half gives way, repeatedly if necessary
TEST(upstream_machine, what_waits_for_a_clock_has_a_part_of_the_bytes) {
  upstream_options options;
  options.bytes_max = 3 * limits::clock_window_part * account_frame(11).size();
  stream x{row_at(10, 1), options};
  x.take_seqs({11, 12, 13});
  EXPECT_EQ(x.machine.gives_way(), 0u);
  x.take_seqs({14});
  EXPECT_EQ(x.machine.gives_way(), 12u);
}

// Frames with old seqs that wait
TEST(upstream_machine, frames_of_old_numbers_give_way_first) {
  upstream_options options;
  options.frames_max = 4;
  stream x{row_at(10, 1), options};
  x.take_seqs({11, 12, 13});
  const auto old = x.machine.row();
  x.take({error_frame("FutureCursor")});
  upstream_view view;
  view.id = old.id;
  view.epoch = x.machine.row().epoch;
  view.gives_way = x.machine.gives_way();
  upstream_board board;
  board.put(view);
  EXPECT_TRUE(board.gives_way({old.id, old.epoch, 13}));
  EXPECT_FALSE(board.gives_way({old.id, view.epoch, 13}));
  EXPECT_FALSE(board.gives_way({old.id + 1, old.epoch, 13}));
}

constexpr int64_t most = limits::seq_regressions_max;

// protocol-coverage.md 1.13; hostile-inputs.md 2.1.30: at the limit and one
// before; a host jumped ahead, fell back, and does not report it.
TEST(upstream_machine, ten_frames_before_the_cursor_restart_the_numbers) {
  stream x{row_at(1'000, 1)};
  for (int64_t seq = 1; seq < most; ++seq) {
    const auto out = x.take_seqs({seq});
    EXPECT_FALSE(out.disconnect) << seq;
    EXPECT_TRUE(out.forward.empty());
  }
  x.reopen(); // This is counted for each connection.
  for (int64_t seq = 1; seq < most; ++seq)
    EXPECT_FALSE(x.take_seqs({seq}).disconnect) << seq;
  const auto out = x.take_seqs({1'000});
  EXPECT_TRUE(out.disconnect);
  EXPECT_FALSE(out.alerts.empty());
  ASSERT_TRUE(out.write);
  EXPECT_EQ(out.write->epoch, 2u);
  EXPECT_EQ(out.write->cursor, 0u);
  x.machine.on_row_durable(t0);
  EXPECT_EQ(redial_cursor(x, t0), 0u);
}

// The same with the policy of protocol-coverage.md 1.13
TEST(upstream_machine,
     frames_before_the_cursor_stop_the_stream_when_so_configured) {
  upstream_options options;
  options.on_future_cursor = future_cursor_policy::stop;
  stream x{row_at(1'000, 1), options};
  for (int64_t seq = 1; seq < most; ++seq)
    EXPECT_FALSE(x.take_seqs({seq}).stopped);
  const auto out = x.take_seqs({500});
  EXPECT_TRUE(out.stopped);
  EXPECT_TRUE(out.disconnect);
  EXPECT_EQ(x.machine.row().cursor, 1'000u);
}

// Frames that are repeated after a reconnect are above the cursor, however
// many.
TEST(upstream_machine, replays_of_what_is_in_flight_restart_nothing) {
  stream x;
  std::vector<int64_t> seqs;
  for (int64_t i = 0; i < 3 * most; ++i)
    seqs.push_back(11 + i);
  x.take_seqs(seqs);
  x.reopen();
  EXPECT_FALSE(x.take_seqs(seqs).disconnect);
  EXPECT_EQ(x.machine.counters().resets, 0u);
}

// protocol-coverage.md 1.3: a stream that repeats one seq makes no progress;
// otherwise it would connect every second for ever.
TEST(upstream_machine, frames_that_were_here_before_do_not_reset_the_back_off) {
  stream x;
  x.take_seqs({11});
  for (const auto expected : {1s, 2s, 4s}) {
    EXPECT_EQ(
      *x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t0).timer - t0,
      expected);
    x.machine.on_open(t0);
    x.take_seqs(std::vector<int64_t>(limits::seq_regressions_max + 1, 11));
  }
}

// limits::infos_per_connection_max: each is a line of the log
TEST(upstream_machine, a_connection_of_endless_infos_ends) {
  stream x;
  for (int i = 0; i < 2; ++i) {
    for (size_t n = 0; n < limits::infos_per_connection_max; ++n)
      EXPECT_FALSE(x.take({info_frame("Weather")}).disconnect);
    EXPECT_TRUE(x.take({info_frame("Weather")}).disconnect);
    x.reopen();
  }
}

// -- how far it is in time (protocol-coverage.md 2.1.2) -----------------------

constexpr wall_time early{1'700'000'000'000'000};

/// Frames from this seq on, whose repos changed a second after each other.
std::vector<shared_bytes> timed_frames(int64_t from, size_t count) {
  std::vector<shared_bytes> out;
  for (size_t i = 0; i < count; ++i) {
    const auto seq = from + static_cast<int64_t>(i);
    const wall_time changed{early.micros + (seq - 10) * 1'000'000};
    out.push_back(commit_frame(seq, atproto::tid::from_time(changed, 0)));
  }
  return out;
}

std::vector<uint64_t> seqs_from(uint64_t from, size_t count) {
  std::vector<uint64_t> out(count);
  std::iota(out.begin(), out.end(), from);
  return out;
}

TEST(upstream_machine, what_has_passed_is_what_is_finished_not_what_came) {
  constexpr auto all = limits::passed_frames;
  stream x;
  x.take(timed_frames(11, all));
  EXPECT_EQ(x.machine.passed(), wall_time{});
  x.done(seqs_from(12, all - 1));
  EXPECT_EQ(x.machine.passed(), wall_time{});
  x.done({11});
  EXPECT_EQ(x.machine.passed().micros, early.micros + (all / 2 + 1) * 1'000'000);
  x.take({error_frame("FutureCursor")});
  EXPECT_EQ(x.machine.passed(), wall_time{}) << "its numbers start anew";
}

// A #sync may show a repo that has not changed for a long time.
TEST(upstream_machine, frames_that_are_no_commits_are_of_the_moment_of_their_host) {
  const auto moment = atproto::parse_datetime(frame_time).value();
  const auto rev = atproto::tid::from_time(early, 0);
  for (const auto kind : {frame_kind::sync, frame_kind::identity,
                          frame_kind::account}) {
    stream x;
    for (size_t i = 0; i < limits::passed_frames; ++i) {
      const auto seq = 11 + static_cast<int64_t>(i);
      x.take({kind == frame_kind::sync       ? sync_frame(seq, rev)
              : kind == frame_kind::identity ? identity_frame(seq)
                                             : account_frame(seq)});
    }
    x.done(seqs_from(11, limits::passed_frames));
    EXPECT_EQ(x.machine.passed(), moment);
  }
}

// A relay passes on unverified frames, which must not make a stream that is
// behind appear up to date.
TEST(upstream_machine, a_few_revs_of_the_future_do_not_say_how_far_it_is) {
  constexpr auto all = limits::passed_frames;
  const wall_time future{early.micros + 3'600'000'000};
  stream x;
  int64_t seq = 10;
  for (size_t i = 0; i < all / 2; ++i)
    x.take({commit_frame(++seq, atproto::tid::from_time(future, 0))});
  x.done(seqs_from(11, all / 2));
  EXPECT_EQ(x.machine.passed(), wall_time{});
  x.take(timed_frames(seq + 1, all));
  x.done(seqs_from(static_cast<uint64_t>(seq) + 1, all));
  EXPECT_LT(x.machine.passed(), wall_time{early.micros + 100'000'000});
}

// limits::passed_quiet_min, and not a microsecond less
TEST(upstream_machine, a_quiet_stream_has_passed_all_until_now) {
  const wall_time wall{early.micros + 3'600'000'000};
  stream x;
  x.take_seqs({11});
  x.machine.note_passed(t0 + 1h, wall);
  EXPECT_EQ(x.machine.row().passed_us, 0) << "a frame is not finished";
  x.done({11}, t0 + 1h);
  const auto quiet = t0 + 1h + limits::passed_quiet_min;
  x.machine.note_passed(quiet + -1us, wall);
  EXPECT_EQ(x.machine.row().passed_us, 0);
  x.machine.note_passed(quiet, wall);
  EXPECT_EQ(x.machine.row().passed_us, wall.micros);
  EXPECT_EQ(x.machine.on_stop().write->passed_us, wall.micros);
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, quiet);
  x.machine.note_passed(quiet + 1h, wall + 1h);
  EXPECT_EQ(x.machine.row().passed_us, wall.micros) << "it is away";
}

// A late frame shows that the silence did not mean that nothing was missing:
// limits::frame_delay_max, and a microsecond more
TEST(upstream_machine, what_a_silence_said_is_taken_back_when_it_was_none) {
  const auto in_time = *atproto::parse_datetime(frame_time)
                       + limits::frame_delay_max;
  for (const auto was_quiet : {true, false}) {
    const wall_time wall{early.micros + 3'600'000'000};
    stream x;
    x.take_seqs({11});
    x.done({11}, t0);
    const auto quiet = t0 + limits::passed_quiet_min;
    x.machine.note_passed(quiet, wall);
    x.machine.note_passed(quiet + 1s, wall + 1s);
    x.take_seqs({12}, quiet + 2s, was_quiet ? in_time : in_time + 1us);
    const auto now_it_says = was_quiet ? wall.micros + 1'000'000 : 0;
    const auto rested_at = was_quiet ? std::optional{quiet + 2s} : std::nullopt;
    EXPECT_EQ(x.machine.row().passed_us, now_it_says);
    EXPECT_EQ(x.machine.rest().rested_at(), rested_at);
    x.take_seqs({13}, quiet + 3s, in_time + 1us);
    EXPECT_EQ(x.machine.row().passed_us, now_it_says) << "of that silence only";
    EXPECT_EQ(x.machine.rest().rested_at(), rested_at);
  }
}

// It is written once after the last frame, not every few seconds.
TEST(upstream_machine, that_a_stream_is_quiet_is_written_once) {
  stream x;
  x.take_seqs({11});
  auto now = t0 + 1h;
  EXPECT_TRUE(x.done({11}, now).write);
  x.machine.on_row_durable(now);
  std::vector<int64_t> written;
  for (int64_t i = 1; i <= 10; ++i) {
    now = now + limits::cursor_write_interval + limits::passed_quiet_min;
    x.machine.note_passed(now, {i});
    if (const auto out = x.machine.on_timer(now); out.write) {
      written.push_back(out.write->passed_us);
      x.machine.on_row_durable(now);
    }
  }
  EXPECT_EQ(written, std::vector<int64_t>{1});
}

TEST(upstream_machine, a_busy_stream_has_passed_what_its_frames_say) {
  constexpr auto all = limits::passed_frames;
  stream x;
  x.take(timed_frames(11, all + 1));
  x.done(seqs_from(11, all));
  x.machine.note_passed(t0 + 1h, {early.micros + 3'600'000'000});
  EXPECT_EQ(x.machine.row().passed_us, x.machine.passed().micros);
  x.machine.note_passed(t0 + 1h, {early.micros});
  EXPECT_EQ(x.machine.row().passed_us, x.machine.passed().micros)
    << "it does not go back while frames are out";
}

} // namespace
} // namespace weir::tests
