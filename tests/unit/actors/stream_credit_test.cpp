#include "actors/support/limits_health.hpp"
#include "actors/upstream/limits.hpp"
#include "actors/upstream/stream_credit.hpp"
#include "tests/unit/actors/upstream_stream.hpp"

// architecture.md, Limits: unread bytes and no debt imply credit for frames and
// for bytes.
namespace weir::tests {
namespace {

/// What a socket holds, and what it does with it.
struct credited_socket {
  size_t frames = 0;
  int64_t bytes = 0;

  void grant(const stream_credit::portion& x) {
    frames += x.frames;
    bytes += static_cast<int64_t>(x.bytes);
  }

  bool is_read() const { return frames > 0 && bytes > 0; }

  void read(size_t size) {
    --frames;
    bytes -= static_cast<int64_t>(size);
  }
};

/// Reads messages of this size, each finished at once, until the socket is not
/// read any more.
size_t drain(stream_credit& credit, credited_socket& socket, size_t size,
             steady_time now) {
  size_t out = 0;
  for (; socket.is_read(); ++out) {
    socket.read(size);
    credit.on_frame(size);
    socket.grant(credit.give(0, 0, now));
  }
  return out;
}

TEST(stream_credit, a_throttled_stream_goes_on_at_its_rate) {
  stream_credit x{64, 100, event_rate{10}};
  credited_socket socket;
  socket.grant(x.give(0, 0, t0));
  size_t read = 0;
  for (auto now = t0; now < t0 + 60s; now = now + 100ms) {
    socket.grant(x.give(0, 0, now));
    read += drain(x, socket, 30, now);
    EXPECT_TRUE(x.starved());
  }
  EXPECT_GE(read, 600u) << "180 windows";
}

// net/ws_client.hpp: the last message may overdraw the bytes. What it
// overdrew is given again, or many such would end the flow.
TEST(stream_credit, messages_larger_than_the_window_do_not_end_it) {
  stream_credit x{64, 100, event_rate{0}};
  credited_socket socket;
  socket.grant(x.give(0, 0, t0));
  for (size_t i = 0; i < 10; ++i) {
    ASSERT_TRUE(socket.is_read()) << i;
    socket.read(1'000);
    x.on_frame(1'000);
    socket.grant(x.give(1, 1'000, t0));
    EXPECT_FALSE(socket.is_read()) << "ten windows are in flight";
    socket.grant(x.give(0, 0, t0));
    EXPECT_EQ(socket.bytes, 100);
  }
}

TEST(stream_credit, a_stream_without_bytes_is_not_quiet) {
  upstream_options options;
  options.bytes_max = account_frame(11).size();
  stream x{row_at(10, 1), options};
  EXPECT_TRUE(x.machine.quiet_since());
  x.take_seqs({11});
  EXPECT_FALSE(x.machine.quiet_since());
  x.done({11}, t0 + 1s);
  EXPECT_EQ(x.machine.quiet_since(), t0 + 1s);
}

// limits::credit_stall_max
TEST(stream_credit, a_socket_that_should_be_read_and_is_not_is_found) {
  stream_credit x{64, 100, event_rate{0}};
  x.give(0, 0, t0);
  EXPECT_FALSE(x.on_look(false, t0));
  EXPECT_TRUE(x.stalled());
  EXPECT_FALSE(x.on_look(false, t0 + (limits::credit_stall_max - 1us)));
  EXPECT_TRUE(x.on_look(false, t0 + limits::credit_stall_max));
  EXPECT_FALSE(x.on_look(true, t0 + limits::credit_stall_max));
  EXPECT_FALSE(x.on_look(false, t0 + 1h));
  x.on_frame(1); // It is.
  EXPECT_FALSE(x.stalled());
}

TEST(stream_credit, a_socket_that_may_not_be_read_is_not_stalled) {
  stream_credit x{1, 100, event_rate{0}};
  x.give(0, 0, t0);
  x.on_frame(10);
  EXPECT_FALSE(x.on_look(false, t0));
  EXPECT_FALSE(x.on_look(false, t0 + 1h)) << "the window is full";
}

// limits::health_stalls_min, limits::health_memory
TEST(stream_credit, a_socket_that_stalls_again_not_long_after_keeps_stalling) {
  stream_credit x{64, 100, event_rate{0}};
  auto now = t0;
  const auto stall = [&] {
    x.on_open();
    x.give(0, 0, now);
    EXPECT_FALSE(x.on_look(false, now));
    now = now + limits::credit_stall_max;
    EXPECT_TRUE(x.on_look(false, now));
  };
  for (size_t i = 1; i < limits::health_stalls_min; ++i)
    stall();
  EXPECT_FALSE(x.keeps_stalling(now));
  stall();
  EXPECT_TRUE(x.keeps_stalling(now));
  EXPECT_TRUE(x.keeps_stalling(now + limits::health_memory));
  now = now + (limits::health_memory + 1us);
  EXPECT_FALSE(x.keeps_stalling(now)) << "it does not any more";
  stall();
  EXPECT_FALSE(x.keeps_stalling(now)) << "the first for long";
}

} // namespace
} // namespace weir::tests
