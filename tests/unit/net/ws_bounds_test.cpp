#include "net/http_server.hpp"
#include "net/limits.hpp"
#include "net/ws_client.hpp"
#include "net/ws_codec.hpp"
#include "tests/support/net_memory.hpp"

#include <gtest/gtest.h>

#include <array>

// The default limits of WebSocket connections, tested at the limit and just
// above it (hostile-inputs.md 2.1, 2.2).

namespace weir::net {

namespace {

using namespace std::chrono_literals;
using tests::memory_stream;
using tests::memory_stream_ptr;
using tests::memory_transport;

constexpr std::array<uint8_t, 4> client_mask{1, 2, 3, 4};

/// The opcode of the first frame that was written; 0 when none was.
int first_opcode(memory_stream& x) {
  const auto wire = x.take();
  return wire.empty() ? 0 : wire.front() & 0x0f;
}

constexpr auto ping = static_cast<int>(ws_opcode::ping);
constexpr auto closing = static_cast<int>(ws_opcode::close);

// -- client -------------------------------------------------------------------

class close_listener final : public ws_listener {
public:
  void on_open() override { opened = true; }

  void on_frames(std::vector<shared_bytes> x) override {
    frames += x.size();
    largest_batch = std::max(largest_batch, x.size());
  }

  void on_close(const ws_close_info& info) override {
    reason = info.reason.context;
    code = info.reason.code;
  }

  bool opened = false;
  size_t frames = 0;
  size_t largest_batch = 0;
  std::string reason;
  ec code = ec::none;
};

class WsClientBoundsTest : public testing::Test {
protected:
  WsClientBoundsTest() {
    ws_client_options options;
    options.target = *parse_url("ws://10.0.0.1/");
    options.guard = address_guard{true};
    client = make_ws_client(network, options, listener);
    network->loop.run();
  }

  ~WsClientBoundsTest() override {
    client.reset();
    network->loop.advance(limits::ws_close_timeout);
  }

  memory_stream& server() { return *network->dialled.at(0); }

  /// The server's answer to the upgrade; a line `X` gives it this size.
  std::string answer(size_t size = 0) {
    const auto request = server().take();
    const auto at = request.find("Sec-WebSocket-Key: ") + 19;
    auto out = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Accept: "
               + ws_accept_key(request.substr(at, 24)) + "\r\n";
    if (size > 0)
      out += "X: " + std::string(size - out.size() - 7, 'x') + "\r\n";
    return out + "\r\n";
  }

  void open(bool with_credit = true) {
    server().feed(answer());
    ASSERT_TRUE(listener->opened);
    if (with_credit)
      client->grant(1'000, 1'000'000);
    network->loop.run();
  }

  void expect_end_after(std::chrono::microseconds limit, std::string_view why) {
    network->loop.advance(limit - 1us);
    EXPECT_EQ(listener->reason, "");
    network->loop.advance(1us);
    EXPECT_EQ(listener->reason, why);
  }

  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  std::shared_ptr<close_listener> listener = std::make_shared<close_listener>();
  ws_client_ptr client;
};

// -- server -------------------------------------------------------------------

class counting_listener final : public ws_session_listener {
public:
  void on_text(std::string_view) override { ++texts; }

  void on_closed(std::string_view why) override { reason = why; }

  size_t texts = 0;
  std::string reason;
};

/// Accepts every upgrade with the default limits.
class accepting_service final : public http_service {
public:
  void on_request(incoming_request, responder answer) override { answer.cut(); }

  void on_upgrade(incoming_request, upgrader answer) override {
    session = answer.accept(listener);
  }

  std::shared_ptr<counting_listener> listener
    = std::make_shared<counting_listener>();
  ws_session_ptr session;
};

class WsSessionBoundsTest : public testing::Test {
protected:
  WsSessionBoundsTest() {
    server = *make_http_server(network, service, {});
    peer = network->connect();
    peer->feed("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    EXPECT_TRUE(peer->take().starts_with("HTTP/1.1 101 "));
  }

  ~WsSessionBoundsTest() override {
    service->session.reset();
    server.reset();
    network->loop.run();
  }

  static bytes from_client(ws_opcode what, std::string_view payload = {}) {
    return ws_frame(what, as_bytes(payload), client_mask);
  }

  std::string& reason() { return service->listener->reason; }

  void expect_end_after(std::chrono::microseconds limit, std::string_view why) {
    network->loop.advance(limit - 1us);
    EXPECT_EQ(reason(), "");
    network->loop.advance(1us);
    EXPECT_EQ(reason(), why);
    EXPECT_TRUE(peer->closed());
  }

  /// The number of messages of this size that the queue takes while nothing is
  /// written.
  size_t fill(size_t frame_bytes) {
    auto payload = frame_bytes - 2;
    payload -= frame_bytes > 127 ? 2 : 0;
    payload -= frame_bytes > 65'539 ? 6 : 0;
    const auto message = ws_message::text(std::string(payload, 'x'));
    EXPECT_EQ(message.size(), frame_bytes);
    size_t n = 0;
    while (service->session->send(message))
      ++n;
    return n;
  }

  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  std::shared_ptr<accepting_service> service
    = std::make_shared<accepting_service>();
  std::shared_ptr<http_server> server;
  memory_stream_ptr peer;
};

} // namespace

TEST_F(WsClientBoundsTest, AnUpgradeMustBeAnsweredInTime) {
  EXPECT_EQ(network->dial_timeouts.at(0), limits::connect_timeout);
  expect_end_after(limits::first_byte_timeout,
                   "no answer to the WebSocket upgrade");
  EXPECT_TRUE(server().closed());
}

TEST_F(WsClientBoundsTest, TheAnswerHasSoManyBytes) {
  const auto wire = answer(limits::http_response_head_bytes_max);
  server().feed(wire.substr(0, wire.size() - 1));
  server().feed(wire.substr(wire.size() - 1));
  EXPECT_TRUE(listener->opened);
}

TEST_F(WsClientBoundsTest, TheAnswerHasNotOneByteMore) {
  server().feed(answer(limits::http_response_head_bytes_max + 1));
  EXPECT_FALSE(listener->opened);
  EXPECT_EQ(listener->code, ec::malformed);
}

TEST_F(WsClientBoundsTest, PingsGoOutInTheirInterval) {
  open(false);
  network->loop.advance(limits::ws_ping_interval - 1us);
  EXPECT_EQ(server().take(), "");
  network->loop.advance(1us);
  EXPECT_EQ(first_opcode(server()), ping);
}

TEST_F(WsClientBoundsTest, AServerThatFallsSilentIsGivenUp) {
  open();
  expect_end_after(limits::ws_client_idle_timeout, "no sign of life");
}

TEST_F(WsClientBoundsTest, AServerThatTakesNothingIsGivenUp) {
  open(false);
  server().set_room(0);
  // The peer does not take the ping.
  network->loop.advance(limits::ws_ping_interval);
  expect_end_after(limits::ws_stall_timeout,
                   "the peer does not take what is sent");
}

TEST_F(WsClientBoundsTest, AServerThatDoesNotSayGoodbyeIsCut) {
  open();
  client->close();
  network->loop.run();
  EXPECT_EQ(first_opcode(server()), closing);
  EXPECT_EQ(listener->code, ec::cancelled);
  network->loop.advance(limits::ws_close_timeout - 1us);
  EXPECT_FALSE(server().closed());
  network->loop.advance(1us);
  EXPECT_TRUE(server().closed());
}

TEST_F(WsClientBoundsTest, FramesAreHandedOverInBatchesOfSoMany) {
  open();
  bytes wire;
  for (size_t i = 0; i <= limits::ws_batch_frames_max; ++i) {
    const auto one = ws_frame(ws_opcode::binary, as_bytes("x"));
    wire.insert(wire.end(), one.begin(), one.end());
  }
  server().feed(wire);
  EXPECT_EQ(listener->frames, limits::ws_batch_frames_max + 1);
  EXPECT_EQ(listener->largest_batch, limits::ws_batch_frames_max);
}

TEST_F(WsSessionBoundsTest, TheQueueHasSoManyMessages) {
  EXPECT_EQ(fill(3), limits::ws_queue_messages_max);
}

TEST_F(WsSessionBoundsTest, TheQueueHasSoManyBytes) {
  constexpr size_t one = 1'048'576;
  static_assert(limits::ws_queue_bytes_max % one == 0);
  EXPECT_EQ(fill(one), limits::ws_queue_bytes_max / one);
  EXPECT_FALSE(service->session->send(ws_message::text("")));
}

TEST_F(WsSessionBoundsTest, SoManyFramesASecondAreTakenTheRestWaits) {
  constexpr auto many = static_cast<size_t>(limits::ws_frames_per_second_max);
  bytes wire;
  for (size_t i = 0; i <= many; ++i) {
    const auto one = from_client(ws_opcode::text, "x");
    wire.insert(wire.end(), one.begin(), one.end());
  }
  peer->feed(wire);
  EXPECT_EQ(service->listener->texts, many);
  network->loop.advance(1'000'000us / many + 1us);
  EXPECT_EQ(service->listener->texts, many + 1);
}

TEST_F(WsSessionBoundsTest, SoManyControlFramesAMinuteAndNotOneMore) {
  constexpr auto many = static_cast<size_t>(limits::ws_control_per_minute_max);
  for (size_t i = 0; i < many; ++i)
    peer->feed(from_client(i % 2 == 0 ? ws_opcode::ping : ws_opcode::pong));
  EXPECT_EQ(reason(), "");
  peer->feed(from_client(ws_opcode::pong));
  EXPECT_EQ(reason(), "too many control frames");
}

TEST_F(WsSessionBoundsTest, PingsGoOutInTheirInterval) {
  network->loop.advance(limits::ws_session_ping_interval - 1us);
  EXPECT_EQ(peer->take(), "");
  network->loop.advance(1us);
  EXPECT_EQ(first_opcode(*peer), ping);
}

TEST_F(WsSessionBoundsTest, AClientThatFallsSilentIsCut) {
  expect_end_after(limits::ws_session_idle_timeout, "no sign of life");
}

TEST_F(WsSessionBoundsTest, AClientThatTakesNothingIsCut) {
  peer->set_room(0);
  ASSERT_TRUE(service->session->send(ws_message::text("x")));
  expect_end_after(limits::ws_stall_timeout,
                   "the peer does not take what is sent");
}

TEST_F(WsSessionBoundsTest, AClientThatDoesNotSayGoodbyeIsCut) {
  service->session->close(ws_code::normal);
  network->loop.run();
  EXPECT_EQ(first_opcode(*peer), closing);
  network->loop.advance(limits::ws_close_timeout - 1us);
  EXPECT_FALSE(peer->closed());
  network->loop.advance(1us);
  EXPECT_TRUE(peer->closed());
}

} // namespace weir::net
