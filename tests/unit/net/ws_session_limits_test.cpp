#include "net/limits.hpp"
#include "tests/unit/net/ws_session_fixture.hpp"

namespace weir::net {

namespace {

using namespace tests;
using outcome = raw_peer::outcome;

class WsSessionLimitsTest : public WsSessionFixture {};

} // namespace

// hostile-inputs.md 2.2.7: 64 KiB in, then close 1009.
TEST_F(WsSessionLimitsTest, IncomingMessagesAreBounded) {
  auto socket = dial();
  auto peer = connect(socket);
  peer.send_text(std::string(limits::ws_incoming_bytes_max, 'x'));
  auto got = listener->texts.pop();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), limits::ws_incoming_bytes_max);
  peer.send_text(std::string(limits::ws_incoming_bytes_max + 1, 'x'));
  EXPECT_EQ(peer.read_close_code(), ws_code::too_big);
  EXPECT_EQ(listener->closes.pop(), "message is too big");
  EXPECT_EQ(listener->texts.size(), 0u);
}

TEST_F(WsSessionLimitsTest, FramesThatBreakTheRulesCloseTheConnection) {
  struct {
    std::string_view wire;
    uint16_t code;
  } const cases[] = {
    {"\x81\x01x", 1002},                    // Not masked.
    {"\xc1\x81\x01\x02\x03\x04x", 1002},    // RSV1: compression was refused.
    {"\x83\x80\x01\x02\x03\x04", 1002},     // Unknown opcode.
    {"\x81\x81\x01\x02\x03\x04\xfe", 1007}, // 0xff: not UTF-8.
    {"\x80\x81\x01\x02\x03\x04x", 1002},    // Continues nothing.
  };
  for (auto& x : cases) {
    auto socket = dial();
    auto peer = connect(socket);
    socket.send(x.wire);
    EXPECT_EQ(peer.read_close_code(), x.code);
    EXPECT_EQ(socket.wait_for_end(), outcome::end);
    EXPECT_TRUE(listener->closes.pop());
  }
}

// hostile-inputs.md 2.2.7: 1,000 messages a second; the rest waits in TCP.
TEST_F(WsSessionLimitsTest, MessagesAboveTheRateAreTakenMoreSlowly) {
  options.frames_per_second_max = 100;
  auto socket = dial();
  auto peer = connect(socket);
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 120; ++i)
    peer.send_text(std::to_string(i));
  for (int i = 0; i < 120; ++i)
    ASSERT_EQ(listener->texts.pop(), std::to_string(i));
  // 100 saved up, 20 more at 100 a second.
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 190ms);
  EXPECT_EQ(listener->closes.size(), 0u);
}

TEST_F(WsSessionLimitsTest, FragmentsCountAsFrames) {
  options.frames_per_second_max = 50;
  auto socket = dial();
  auto peer = connect(socket);
  std::array<uint8_t, 4> mask{};
  auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 60; ++i) {
    auto opcode = i == 0 ? ws_opcode::text : ws_opcode::continuation;
    auto part = ws_frame(opcode, as_bytes("x"), mask);
    part[0] = static_cast<uint8_t>(part[0] & 0x7f);
    socket.send(part);
  }
  peer.send(ws_opcode::continuation, as_bytes("x"));
  auto got = listener->texts.pop();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->size(), 61u);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, 200ms);
}

TEST_F(WsSessionLimitsTest, TooManyControlFramesCloseTheConnection) {
  options.control_per_minute_max = 10;
  auto socket = dial();
  auto peer = connect(socket);
  for (int i = 0; i < 10; ++i) {
    auto text = std::to_string(i);
    peer.send(i % 2 ? ws_opcode::pong : ws_opcode::ping, as_bytes(text));
  }
  EXPECT_EQ(peer.read(ws_opcode::pong).ok, true);
  peer.send(ws_opcode::ping);
  EXPECT_EQ(peer.read_close_code(), ws_code::policy);
  EXPECT_EQ(listener->closes.pop(), "too many control frames");
}

TEST_F(WsSessionLimitsTest, PeersArePingedAndDroppedWhenTheyStaySilent) {
  options.ping_interval = 20ms;
  options.idle_timeout = 100ms;
  auto socket = dial();
  auto peer = connect(socket);
  for (int i = 0; i < 10; ++i) { // Twice the timeout, kept alive by pongs.
    ASSERT_TRUE(peer.read(ws_opcode::ping).ok);
    peer.send(ws_opcode::pong);
  }
  EXPECT_EQ(listener->closes.size(), 0u);
  EXPECT_EQ(socket.wait_for_end(), outcome::end);
  EXPECT_EQ(listener->closes.pop(), "no sign of life");
}

// @atproto/tap may leave pings unanswered while its handler is slow; taking
// messages shows that it is alive, too.
TEST_F(WsSessionLimitsTest, APeerThatOnlyReadsIsAlive) {
  options.idle_timeout = 150ms;
  options.ping_interval = 1h;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto message = ws_message::text(std::string(100'000, 'x'));
  for (int i = 0; i < 20; ++i) { // Three times the timeout in all.
    fill(message);
    ASSERT_TRUE(peer.read().ok);
    ASSERT_TRUE(peer.read().ok);
    ASSERT_FALSE(listener->closes.pop(20ms));
  }
}

// hostile-inputs.md 2.2.8: send stall 30 s.
TEST_F(WsSessionLimitsTest, APeerThatTakesNothingIsCutAndMemoryStaysFlat) {
  options.stall_timeout = 100ms;
  options.queue_bytes_max = 1 << 20;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto message = ws_message::text(std::string(50'000, 'x'));
  auto until = std::chrono::steady_clock::now() + patience;
  while (listener->closes.size() == 0
         && std::chrono::steady_clock::now() < until) {
    fill(message);
    EXPECT_LE(session->queued_bytes(), options.queue_bytes_max);
    listener->drains.pop(5ms);
  }
  EXPECT_EQ(listener->closes.pop(), "the peer does not take what is sent");
  EXPECT_EQ(session->queued_bytes(), 0u);
}

TEST_F(WsSessionLimitsTest, PingsAndPongsDoNotPileUp) {
  options.control_per_minute_max = 100'000;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto message = ws_message::text(std::string(1'000'000, 'x'));
  fill(message);
  settle();
  std::string payload(125, 'p');
  for (int i = 0; i < 10'000; ++i)
    peer.send(ws_opcode::ping, as_bytes(payload));
  peer.send(ws_opcode::ping, as_bytes("last"));
  // Only the newest unanswered ping is answered.
  size_t pongs = 0;
  for (;;) {
    auto x = peer.read();
    ASSERT_TRUE(x.ok);
    pongs += x.opcode == ws_opcode::pong;
    if (x.payload == "last")
      break;
  }
  EXPECT_LT(pongs, 1'000u);
}

} // namespace weir::net
