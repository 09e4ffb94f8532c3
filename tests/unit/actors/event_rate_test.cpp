#include "actors/upstream/limits.hpp"
#include "tests/support/repo_builder.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

// hostile-inputs.md 2.1.32: more than the rate waits, nothing is dropped.
namespace weir::tests {
namespace {

TEST(event_rate, without_a_bound_all_may_come) {
  event_rate x{0};
  EXPECT_EQ(x.allow(1'000'000, t0), 1'000'000u);
  EXPECT_EQ(x.allow(1'000'000, t0), 1'000'000u);
}

TEST(event_rate, a_second_fills_it_and_no_more) {
  event_rate x{50};
  EXPECT_EQ(x.allow(51, t0), 50u);
  EXPECT_EQ(x.allow(51, t0 + 1s), 50u);
  EXPECT_EQ(x.allow(51, t0 + 1h), 50u);
  EXPECT_EQ(x.allow(20, t0 + 2h), 20u);
  EXPECT_EQ(x.allow(51, t0 + 2h), 30u);
}

TEST(event_rate, single_ones_are_given_only_to_who_wants_no_more) {
  event_rate x{50};
  EXPECT_EQ(x.allow(50, t0), 50u);
  EXPECT_EQ(x.allow(50, t0 + 99ms), 0u) << "4.95 of 5";
  EXPECT_EQ(x.allow(50, t0 + 100ms), 5u);
  EXPECT_EQ(x.allow(1, t0 + 120ms), 1u);
  event_rate slow{1};
  EXPECT_EQ(slow.allow(9, t0), 1u);
  EXPECT_EQ(slow.allow(9, t0 + 999ms), 0u);
  EXPECT_EQ(slow.allow(9, t0 + 1s), 1u);
}

// hostile-inputs.md 2.1.8: others pay for a check that found nothing
// protocol-coverage.md 2.5.9
TEST(event_rate, a_refused_frame_costs_as_much_as_many) {
  constexpr auto cost = limits::refused_frame_cost;
  event_rate x{1'000};
  EXPECT_EQ(x.allow(1'000, t0), 1'000u);
  x.charge(10, t0);
  const auto paid = t0 + 10 * cost * 1ms;
  EXPECT_EQ(x.allow(1, paid), 0u);
  EXPECT_EQ(x.allow(1, paid + 1ms), 1u);
}

TEST(event_rate, the_next_portion_is_there_when_it_says) {
  event_rate x{1'000};
  EXPECT_EQ(x.allow(1'000, t0), 1'000u);
  EXPECT_EQ(x.next(t0), t0 + 100ms + 1us);
  x.charge(1, t0);
  const auto next = x.next(t0);
  EXPECT_EQ(next, t0 + (100ms + limits::refused_frame_cost * 1ms + 1us));
  EXPECT_EQ(x.allow(1'000, t0 + (next - t0 - 2us)), 0u);
  EXPECT_EQ(x.allow(1'000, next), 100u);
}

TEST(event_rate, no_more_is_owed_than_for_a_second_of_refused_frames) {
  constexpr auto cost = limits::refused_frame_cost;
  for (const size_t refused : {100, 101, 1'000'000}) {
    event_rate x{100};
    EXPECT_EQ(x.allow(100, t0), 100u);
    x.charge(refused, t0);
    EXPECT_EQ(x.allow(100, t0 + cost * 1s), 0u);
    EXPECT_EQ(x.allow(100, t0 + cost * 1s + 100ms), 10u);
  }
}

TEST(event_rate, without_a_bound_nothing_is_charged) {
  event_rate x{0};
  x.charge(1'000, t0);
  EXPECT_EQ(x.allow(1'000, t0), 1'000u);
}

upstream_options rated(size_t per_second) {
  upstream_options out;
  out.frames_max = 16;
  out.events_per_second = per_second;
  return out;
}

const auto t1 = t0 + 1s;
const std::vector<int64_t> ten{21, 22, 23, 24, 25, 26, 27, 28, 29, 30};
const std::vector<uint64_t> ten_done{ten.begin(), ten.end()};

/// Of ten events a second, which it had at `t0` and has again at `t1`.
class rated_stream : public stream {
public:
  rated_stream() : stream(row_at(10, 1), rated(10)) {
    EXPECT_EQ(opened.grant_frames, 10u);
    EXPECT_EQ(take_seqs({11, 12, 13, 14, 15, 16, 17, 18, 19, 20}).grant_frames,
              0u);
    done({11, 12, 13, 14, 15, 16, 17, 18, 19, 20});
  }
};

TEST(event_rate, a_stream_beyond_its_rate_is_read_again_a_second_later) {
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
TEST(event_rate, a_stream_of_refused_frames_is_read_later) {
  rated_stream x;
  x.machine.on_timer(t1);
  x.take_seqs(ten, t1);
  x.machine.on_refused(2, t1);
  EXPECT_EQ(x.done(ten_done, t1).grant_frames, 0u);
  constexpr auto paid = limits::refused_frame_cost * 2 * 100ms;
  const auto next = x.machine.on_timer(t1 + paid).timer;
  ASSERT_TRUE(next);
  EXPECT_EQ(*next, t1 + (paid + 100ms + 1us));
  EXPECT_EQ(x.machine.on_timer(t1 + paid + 100ms).grant_frames, 1u);
}

// As a host does that sends whatever is taken: in ten seconds it has eleven
// seconds' worth, with the one that it had at first, and not more.
TEST(event_rate, an_endless_stream_has_its_rate_and_no_more) {
  constexpr size_t rate = 500;
  stream x{row_at(10, 1), rated(rate)};
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
    now = *std::exchange(timer, std::nullopt);
    note(x.machine.on_timer(now));
  }
  EXPECT_LE(granted, 11 * rate);
  EXPECT_GE(granted, 11 * rate - 2 * rate / 10);
}

TEST(event_rate, a_new_connection_is_no_new_second) {
  rated_stream x;
  EXPECT_EQ(x.machine.on_timer(t1).grant_frames, 10u);
  x.machine.on_closed({fail(ec::unreachable), 0, 0s}, t1);
  EXPECT_EQ(x.machine.on_open(t1).grant_frames, 0u);
  EXPECT_EQ(x.machine.on_timer(t1 + 1s).grant_frames, 10u);
}

} // namespace
} // namespace weir::tests
