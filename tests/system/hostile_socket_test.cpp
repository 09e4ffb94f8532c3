#include "net/limits.hpp"
#include "tests/support/net_ws_peer.hpp"
#include "tests/system/api_node.hpp"

namespace weir::tests {

namespace {

using net::ws_opcode;
using outcome = raw_peer::outcome;

constexpr std::array<uint8_t, 4> mask{1, 2, 3, 4};

/// A channel to a node for hostile bytes. The node must survive unharmed.
class HostileSocketTest : public ::testing::Test {
protected:
  ~HostileSocketTest() override {
    plain_request health;
    health.path = "/health";
    EXPECT_EQ(node.ask(node.data, health).status, 200);
  }

  /// Sends `frame` `count` times. False when the node ends the connection
  /// first.
  bool flood(const bytes& frame, size_t count) {
    std::string batch;
    constexpr size_t batch_frames = 1'000;
    for (size_t i = 0; i < batch_frames; ++i)
      batch += as_text(frame);
    for (size_t sent = 0; sent < count; sent += batch_frames)
      if (!socket.send(batch))
        return false;
    return true;
  }

  api_node node{false};
  raw_peer socket = raw_peer::dial(node.data);
  ws_peer channel = ws_peer::ask(socket, "/channel", "localhost");
};

} // namespace

// hostile-inputs.md 2.2.7: limits::ws_control_per_minute_max
TEST_F(HostileSocketTest, AFloodOfPingsEndsTheChannel) {
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 ")) << channel.answer;
  EXPECT_FALSE(
    flood(net::ws_frame(ws_opcode::ping, as_bytes("x"), mask), 1'000'000));
}

// Acks of events that were never sent; each message is a complete ack.
TEST_F(HostileSocketTest, BogusAcksAreIgnoredAndTheChannelLivesOn) {
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 ")) << channel.answer;
  const auto ack = as_bytes(R"({"type":"ack","id":18446744073709551615})");
  EXPECT_TRUE(flood(net::ws_frame(ws_opcode::text, ack, mask), 100'000));
  channel.send(ws_opcode::ping, as_bytes("still there"));
  EXPECT_EQ(channel.read(ws_opcode::pong).payload, "still there");
}

// Frames are read at limits::channel_acks_per_second_max and not queued.
TEST_F(HostileSocketTest, TinyFramesAreReadAtTheirRate) {
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 ")) << channel.answer;
  EXPECT_TRUE(flood(net::ws_frame(ws_opcode::text, {}, mask), 1'000'000));
  channel.send(ws_opcode::ping, as_bytes("still there"));
  // Everything is read at that rate, which takes 20 s.
  pollfd pong{socket.fd(), POLLIN, 0};
  ASSERT_EQ(poll(&pong, 1, 60'000), 1);
  EXPECT_EQ(channel.read(ws_opcode::pong).payload, "still there");
}

// limits::ws_incoming_bytes_max, complete and in endless fragments.
TEST_F(HostileSocketTest, MessagesAreTakenUpToTheLimitAndEndTheChannelAbove) {
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 ")) << channel.answer;
  channel.send_text(std::string(limits::ws_incoming_bytes_max, 'x'));
  channel.send(ws_opcode::ping, as_bytes("still there"));
  EXPECT_EQ(channel.read(ws_opcode::pong).payload, "still there");
  channel.send_text(std::string(limits::ws_incoming_bytes_max + 1, 'x'));
  EXPECT_EQ(channel.read_close_code(), net::ws_code::too_big);
}

TEST_F(HostileSocketTest, EndlessFragmentsEndTheChannel) {
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 ")) << channel.answer;
  auto first = net::ws_frame(ws_opcode::text, as_bytes("x"), mask);
  auto next = net::ws_frame(ws_opcode::continuation, as_bytes("x"), mask);
  first[0] &= 0x7f; // Without FIN.
  next[0] &= 0x7f;
  socket.send(first);
  flood(next, limits::ws_incoming_bytes_max + 1'000);
  EXPECT_EQ(channel.read_close_code(), net::ws_code::too_big);
}

} // namespace weir::tests
