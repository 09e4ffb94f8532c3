#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/unit/actors/admitted_stream.hpp"

// actors.md, What a stream may deliver: a socket has credit for a frame and for
// a byte, or there is a reason that an event ends. hostile-inputs.md 2.1.32:
// frames above the rate wait, and none is dropped.
namespace weir::tests {
namespace {

using waits = admission_wait;

TEST(admission_machine, the_first_reason_that_has_not_ended_is_named) {
  admitted_stream x{1, 100, 1};
  EXPECT_EQ(x.machine.waits_for(t0), waits::none);
  x.give();
  x.read(10);
  EXPECT_EQ(x.machine.waits_for(t0), waits::window);
  x.machine.on_room(false);
  EXPECT_EQ(x.machine.waits_for(t0), waits::room);
  x.machine.on_closed();
  EXPECT_EQ(x.machine.waits_for(t0), waits::connection);
  x.machine.on_open();
  x.machine.on_room(true);
  x.finish(1);
  EXPECT_EQ(x.machine.waits_for(t0), waits::rate);
  EXPECT_EQ(x.machine.waits_for(t0 + 1s), waits::none);
}

TEST(admission_machine, without_room_or_a_socket_nothing_is_given) {
  admitted_stream x{64, 100};
  x.machine.on_room(false);
  EXPECT_EQ(x.give(), 0u);
  EXPECT_FALSE(x.is_read());
  x.machine.on_room(true);
  EXPECT_EQ(x.give(), 64u);
  x.machine.on_closed();
  EXPECT_EQ(x.give(), 0u);
  x.machine.on_open();
  EXPECT_EQ(x.give(), 64u) << "a new socket has none";
}

// -- the window ---------------------------------------------------------------

// net/ws_client.hpp: the last message may overdraw the bytes. The overdraft is
// given again, or many such messages would end the flow.
TEST(admission_machine, messages_larger_than_the_window_do_not_end_it) {
  admitted_stream x{64, 100};
  x.give();
  for (uint64_t i = 1; i <= 10; ++i) {
    ASSERT_TRUE(x.is_read()) << i;
    x.read(1'000);
    x.give();
    EXPECT_FALSE(x.is_read()) << "ten windows are in flight";
    x.finish(i);
    x.give();
    EXPECT_EQ(x.bytes, 100);
  }
}

TEST(admission_machine, small_portions_wait_for_an_eighth_of_the_window) {
  admitted_stream x{64, 1'000};
  x.give();
  for (int i = 1; i <= 7; ++i) {
    x.read(1);
    x.finish(x.seq);
    EXPECT_EQ(x.give(), 0u) << i;
  }
  x.read(1);
  x.finish(x.seq);
  EXPECT_EQ(x.give(), 8u);
}

TEST(admission_machine, a_stream_without_bytes_is_not_quiet) {
  upstream_options options;
  options.bytes_max = account_frame(11).size();
  stream x{row_at(10, 1), options};
  EXPECT_TRUE(x.machine.quiet_since());
  x.take_seqs({11});
  EXPECT_FALSE(x.machine.quiet_since());
  x.done({11}, t0 + 1s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 1s);
}

// -- the rate -----------------------------------------------------------------

TEST(admission_machine, without_a_rate_all_may_come) {
  admitted_stream x{64, 100};
  x.machine.on_refused(1'000, t0);
  EXPECT_EQ(x.give(), 64u);
  for (int i = 0; i < 1'000; ++i) {
    ASSERT_TRUE(x.is_read());
    x.read(1);
    x.finish(x.seq);
    x.give();
  }
}

TEST(admission_machine, a_second_fills_the_rate_and_no_more) {
  admitted_stream x{200, 1'000, 50};
  EXPECT_EQ(x.give(t0), 50u);
  EXPECT_EQ(x.drain(1, t0), 50u);
  EXPECT_EQ(x.give(t0 + 1s), 50u);
  EXPECT_EQ(x.drain(1, t0 + 1s), 50u);
  EXPECT_EQ(x.give(t0 + 1h), 50u) << "what nobody sent is not kept";
}

TEST(admission_machine, a_tenth_of_a_second_comes_at_a_time_or_all_that_may) {
  admitted_stream x{200, 1'000, 50};
  x.give(t0);
  x.drain(1, t0);
  EXPECT_EQ(x.give(t0 + 99ms), 0u) << "4.95 of 5";
  EXPECT_EQ(x.give(t0 + 100ms), 5u);
  admitted_stream narrow{1, 1'000, 50};
  narrow.give(t0);
  EXPECT_EQ(narrow.drain(1, t0), 50u);
  EXPECT_EQ(narrow.give(t0 + 20ms), 1u) << "its window has room for no more";
  admitted_stream slow{9, 1'000, 1};
  EXPECT_EQ(slow.give(t0), 1u);
  slow.drain(1, t0);
  EXPECT_EQ(slow.give(t0 + 999ms), 0u);
  EXPECT_EQ(slow.give(t0 + 1s), 1u);
}

TEST(admission_machine, the_next_portion_is_there_when_it_says) {
  admitted_stream x{2'000, 10'000, 1'000};
  x.give(t0);
  EXPECT_FALSE(x.machine.wake_at());
  x.drain(1, t0);
  EXPECT_EQ(x.machine.wake_at(), t0 + (100ms + 1us));
  x.machine.on_refused(1, t0);
  x.give(t0);
  const auto next = x.machine.wake_at();
  ASSERT_EQ(next, t0 + (100ms + limits::refused_frame_cost * 1ms + 1us));
  EXPECT_EQ(x.give(t0 + (*next - t0 - 2us)), 0u);
  EXPECT_EQ(x.give(*next), 100u);
  EXPECT_FALSE(x.machine.wake_at());
}

// hostile-inputs.md 2.1.8: a check that finds nothing costs the other streams
// protocol-coverage.md 2.5.9
TEST(admission_machine, a_refused_frame_costs_as_much_as_many) {
  constexpr auto cost = limits::refused_frame_cost;
  admitted_stream x{1, 1'000, 1'000};
  x.give(t0);
  EXPECT_EQ(x.drain(1, t0), 1'000u);
  x.machine.on_refused(10, t0);
  const auto paid = t0 + 10 * cost * 1ms;
  EXPECT_EQ(x.give(paid), 0u);
  EXPECT_EQ(x.give(paid + 1ms), 1u);
}

TEST(admission_machine, no_more_is_owed_than_for_a_second_of_refused_frames) {
  constexpr auto cost = limits::refused_frame_cost;
  for (const size_t refused : {100, 101, 1'000'000}) {
    admitted_stream x{200, 1'000, 100};
    x.give(t0);
    x.drain(1, t0);
    x.machine.on_refused(refused, t0);
    EXPECT_EQ(x.give(t0 + cost * 1s), 0u);
    EXPECT_EQ(x.give(t0 + cost * 1s + 100ms), 10u);
  }
}

TEST(admission_machine, a_throttled_stream_goes_on_at_its_rate) {
  admitted_stream x{64, 100, 10};
  x.give(t0);
  size_t read = 0;
  for (auto now = t0; now < t0 + 60s; now = now + 100ms) {
    x.give(now);
    read += x.drain(30, now);
    EXPECT_EQ(x.machine.waits_for(now), waits::rate);
  }
  EXPECT_GE(read, 600u) << "180 windows";
}

constexpr size_t rate = 10;
const auto t1 = t0 + 1s;
const std::vector<int64_t> ten{21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
const std::vector<uint64_t> ten_done{ten.begin(), ten.end()};

/// A stream of ten events a second, which has used its rate at `t0` and has it
/// again at `t1`.
class rated_stream : public stream {
public:
  rated_stream() : stream(row_at(10, 1), admitting(16, 10'000, rate)) {
    EXPECT_EQ(opened.grant_frames, rate);
    EXPECT_EQ(take_seqs({11, 12, 13, 14, 15, 16, 17, 18, 19, 20}).grant_frames,
              0u);
    done({11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
  }
};

TEST(admission_machine, a_stream_beyond_its_rate_is_read_again_a_second_later) {
  rated_stream x;
  EXPECT_EQ(x.machine.on_timer(t1).grant_frames, 10u);
  EXPECT_EQ(x.take_seqs(ten, t1).grant_frames, 0u);
  EXPECT_EQ(x.done(ten_done, t1).grant_frames, 0u);
  EXPECT_FALSE(x.machine.quiet_since())
    << "what waits at the host may be anything";
  EXPECT_EQ(x.machine.on_timer(t1 + 1s).grant_frames, 10u);
  EXPECT_EQ(x.machine.quiet_since(), t1 + 1s);
}

// protocol-coverage.md 2.5.9
TEST(admission_machine, a_stream_of_refused_frames_is_read_later) {
  rated_stream x;
  x.machine.on_timer(t1);
  x.take_seqs(ten, t1);
  x.machine.on_refused(2, t1);
  EXPECT_EQ(x.done(ten_done, t1).grant_frames, 0u);
  constexpr auto paid = limits::refused_frame_cost * 2 * 100ms;
  EXPECT_EQ(x.machine.on_timer(t1 + paid).timer, t1 + (paid + 100ms + 1us));
  EXPECT_EQ(x.machine.on_timer(t1 + paid + 100ms).grant_frames, 1u);
}

// A host sends everything that is read: in ten seconds it gets eleven seconds'
// worth, including the initial one, and not more.
TEST(admission_machine, an_endless_stream_has_its_rate_and_no_more) {
  constexpr size_t many = 500;
  stream x{row_at(10, 1), admitting(16, 10'000, many)};
  size_t granted = x.opened.grant_frames;
  size_t taken = 0;
  std::optional<steady_time> timer = x.opened.timer;
  auto now = t0;
  const auto note = [&](const upstream_machine::effects& out) {
    granted += out.grant_frames;
    if (out.write)
      x.machine.on_row_durable(now);
    if (out.timer && (!timer || *out.timer < *timer))
      timer = out.timer;
  };
  while (now < t0 + 10s) {
    for (; taken < granted; ++taken)
      note(x.take(
        {shared_bytes{unknown_frame(static_cast<int64_t>(11 + taken))}}, now));
    ASSERT_TRUE(timer);
    ASSERT_GT(*timer, now);
    now = *std::exchange(timer, std::nullopt);
    note(x.machine.on_timer(now));
  }
  EXPECT_LE(granted, 11 * many);
  EXPECT_GE(granted, 11 * many - 2 * many / 10);
}

TEST(admission_machine, a_new_connection_is_no_new_second) {
  rated_stream x;
  EXPECT_EQ(x.machine.on_timer(t1).grant_frames, 10u);
  x.machine.on_closed({1, fail(ec::unreachable), 0, 0s}, 0, t1);
  EXPECT_EQ(x.machine.on_open(t1).grant_frames, 0u);
  EXPECT_EQ(x.machine.on_timer(t1 + 1s).grant_frames, 10u);
}

// -- sockets that are not read ------------------------------------------------

// limits::credit_stall_max
TEST(admission_machine, a_socket_that_should_be_read_and_is_not_is_found) {
  admitted_stream x{64, 100};
  x.give();
  EXPECT_TRUE(x.machine.is_quiet());
  EXPECT_FALSE(x.machine.on_look(false, t0));
  EXPECT_FALSE(x.machine.is_quiet());
  EXPECT_FALSE(x.machine.on_look(false, t0 + (limits::credit_stall_max - 1us)));
  EXPECT_TRUE(x.machine.on_look(false, t0 + limits::credit_stall_max));
  EXPECT_FALSE(x.machine.on_look(true, t0 + limits::credit_stall_max));
  EXPECT_FALSE(x.machine.on_look(false, t0 + 1h));
  x.machine.on_frame(1); // Now it is read.
  EXPECT_TRUE(x.machine.is_quiet());
}

// If credit is lost by any error, the stream must not stop.
TEST(admission_machine, a_socket_without_credit_and_without_a_reason_is_found) {
  admitted_stream x{64, 100};
  EXPECT_FALSE(x.machine.on_look(false, t0)) << "nobody called `give`";
  EXPECT_TRUE(x.machine.on_look(false, t0 + limits::credit_stall_max));
}

TEST(admission_machine, a_socket_that_may_not_be_read_is_not_stalled) {
  admitted_stream x{1, 100, 1};
  x.give();
  x.read(10);
  const auto late = t0 + 1h;
  EXPECT_FALSE(x.machine.on_look(false, t0));
  EXPECT_FALSE(x.machine.on_look(false, late)) << "the window is full";
  x.finish(1);
  x.machine.on_refused(1, late);
  EXPECT_FALSE(x.machine.on_look(false, late));
  EXPECT_FALSE(x.machine.on_look(false, late + limits::credit_stall_max))
    << "it owes events";
  x.machine.on_room(false);
  EXPECT_FALSE(x.machine.on_look(false, late + 1h));
  EXPECT_FALSE(x.machine.on_look(false, late + 2h)) << "there is no room";
  x.machine.on_closed();
  x.machine.on_room(true);
  EXPECT_FALSE(x.machine.on_look(false, late + 3h));
  EXPECT_FALSE(x.machine.on_look(false, late + 4h)) << "there is no socket";
  admitted_stream full{64, 100};
  full.give();
  full.machine.on_closed();
  EXPECT_FALSE(full.machine.on_look(false, t0));
  EXPECT_FALSE(full.machine.on_look(false, late)) << "it took its credit along";
}

// limits::health_stalls_min, limits::health_memory
TEST(admission_machine, a_socket_that_stalls_again_not_long_after_keeps_stalling) {
  admitted_stream x{64, 100};
  auto now = t0;
  const auto stall = [&] {
    x.machine.on_open();
    x.give(now);
    EXPECT_FALSE(x.machine.on_look(false, now));
    now = now + limits::credit_stall_max;
    EXPECT_TRUE(x.machine.on_look(false, now));
  };
  for (size_t i = 1; i < limits::health_stalls_min; ++i)
    stall();
  EXPECT_FALSE(x.machine.keeps_stalling(now));
  stall();
  EXPECT_TRUE(x.machine.keeps_stalling(now));
  EXPECT_TRUE(x.machine.keeps_stalling(now + limits::health_memory));
  now = now + (limits::health_memory + 1us);
  EXPECT_FALSE(x.machine.keeps_stalling(now)) << "it does not any more";
  stall();
  EXPECT_FALSE(x.machine.keeps_stalling(now)) << "the first for long";
}

} // namespace
} // namespace weir::tests
