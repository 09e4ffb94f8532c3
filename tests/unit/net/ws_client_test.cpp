#include "base/limits.hpp"
#include "net/limits.hpp"
#include "net/ws_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/support/net_ws_peer.hpp"

namespace weir::net {

namespace {

using namespace tests;
using outcome = raw_peer::outcome;

constexpr size_t plenty = 1'000'000'000;

/// Records the calls of a listener.
class recording_listener final : public ws_listener {
public:
  void on_open() override { opens.push(true); }

  void on_frames(std::vector<shared_bytes> x) override {
    for (auto& frame : x)
      bytes_received += frame.size();
    frames_received += x.size();
    batches.push(std::move(x));
  }

  void on_close(const ws_close_info& info) override { closes.push(info); }

  inbox<bool> opens;
  inbox<std::vector<shared_bytes>> batches;
  inbox<ws_close_info> closes;
  std::atomic<size_t> frames_received = 0;
  std::atomic<size_t> bytes_received = 0;
};

using ws_script = std::function<void(ws_peer&, raw_peer&)>;

/// Accepts the upgrade, then runs the script.
scripted_server serve(ws_script script) {
  return scripted_server{[script = std::move(script)](raw_peer& x, size_t) {
    auto peer = ws_peer::accept(x);
    script(peer, x);
  }};
}

class WsClientTest : public NetFixture {
protected:
  WsClientTest() { options.guard = address_guard{true}; }

  void dial(uint16_t port) {
    options.target = *parse_url("ws://127.0.0.1:" + std::to_string(port)
                                + "/stream?cursor=1");
    listener = std::make_shared<recording_listener>();
    client = make_ws_client(network, options, listener);
  }

  void dial(const scripted_server& server) {
    dial(server.port());
    ASSERT_TRUE(listener->opens.pop());
  }

  ws_close_info closed() {
    auto x = listener->closes.pop();
    EXPECT_TRUE(x) << "the connection did not end";
    return x.value_or(ws_close_info{});
  }

  /// The next `n` messages as text.
  std::vector<std::string> take(size_t n) {
    std::vector<std::string> out;
    while (out.size() < n) {
      auto batch = listener->batches.pop();
      if (!batch)
        break;
      EXPECT_LE(batch->size(), limits::ws_batch_frames_max);
      for (auto& x : *batch)
        out.emplace_back(as_text(x.view()));
    }
    EXPECT_EQ(out.size(), n);
    return out;
  }

  ws_client_options options;
  std::shared_ptr<recording_listener> listener;
  ws_client_ptr client;
};

} // namespace

// protocol-coverage.md 1.1: binary frames, User-Agent sent, no compression
// offered.
TEST_F(WsClientTest, FramesArriveInOrderAsTheyWereSent) {
  inbox<std::string> requests;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    requests.push(peer.request);
    for (int i = 0; i < 200; ++i)
      peer.send_binary("frame " + std::to_string(i));
    peer.send_binary("");
    socket.wait_for_end();
  });
  options.headers.push_back({"X-Test", "1"});
  dial(server);
  client->grant(plenty, plenty);
  auto got = take(201);
  for (int i = 0; i < 200; ++i)
    EXPECT_EQ(got[static_cast<size_t>(i)], "frame " + std::to_string(i));
  EXPECT_EQ(got[200], "");
  auto request = *requests.pop();
  EXPECT_TRUE(request.starts_with("GET /stream?cursor=1 HTTP/1.1\r\n"));
  EXPECT_NE(request.find("User-Agent: weir\r\n"), std::string::npos);
  EXPECT_NE(request.find("X-Test: 1\r\n"), std::string::npos);
  EXPECT_EQ(request.find("Extensions"), std::string::npos);
}

// Messages of one read are passed on at once; none waits for a batch to fill.
TEST_F(WsClientTest, ASingleFrameIsNotHeldBack) {
  inbox<int> turns;
  auto server = serve([&](ws_peer& peer, raw_peer&) {
    while (auto turn = turns.pop())
      if (*turn == 0 || !peer.send_binary(std::to_string(*turn)))
        return;
  });
  dial(server);
  client->grant(plenty, plenty);
  for (int i = 1; i < 20; ++i) {
    turns.push(i);
    EXPECT_EQ(take(1).front(), std::to_string(i));
  }
  turns.push(0);
}

TEST_F(WsClientTest, FramesAreGatheredIntoBoundedBatches) {
  std::string wire;
  for (int i = 0; i < 1'000; ++i) {
    auto frame = ws_frame(ws_opcode::binary, as_bytes("x"));
    wire += as_text(frame);
  }
  auto server = serve([&](ws_peer&, raw_peer& socket) {
    socket.send(wire);
    socket.wait_for_end();
  });
  dial(server);
  client->grant(plenty, plenty);
  take(1'000);
  EXPECT_LT(listener->batches.size(), 100u);
}

// hostile-inputs.md 2.1.1: 5,000,000 bytes, then close 1009.
// protocol-coverage.md 1.4
TEST_F(WsClientTest, AFrameAtTheLimitPassesAndOneMoreByteEndsTheConnection) {
  inbox<uint16_t> codes;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    peer.send_binary(std::string(limits::frame_bytes_max, 'x'));
    peer.send_binary(std::string(limits::frame_bytes_max + 1, 'y'));
    codes.push(peer.read_close_code());
    socket.wait_for_end();
  });
  dial(server);
  client->grant(plenty, plenty);
  EXPECT_EQ(take(1).front().size(), limits::frame_bytes_max);
  auto info = closed();
  EXPECT_EQ(info.reason.code, ec::limit_reached);
  EXPECT_TRUE(info.opened);
  EXPECT_EQ(codes.pop(), ws_code::too_big);
  EXPECT_EQ(listener->frames_received, 1u);
}

// protocol-coverage.md 1.1: a text frame ends the connection.
TEST_F(WsClientTest, ATextMessageEndsTheConnection) {
  inbox<uint16_t> codes;
  auto server = serve([&](ws_peer& peer, raw_peer&) {
    peer.send_binary("before");
    peer.send_text("{}");
    peer.send_binary("after");
    codes.push(peer.read_close_code());
  });
  dial(server);
  client->grant(plenty, plenty);
  EXPECT_EQ(closed().reason.code, ec::malformed);
  EXPECT_EQ(codes.pop(), ws_code::unsupported);
  EXPECT_EQ(take(1).front(), "before");
  EXPECT_EQ(listener->frames_received, 1u);
}

// architecture.md, The stages: a frame is read only while credit is held.
TEST_F(WsClientTest, WithoutCreditTheSocketIsNotRead) {
  std::atomic<size_t> sent = 0;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    std::string payload(10'000, 'x');
    while (sent < 10'000 && peer.send_binary(payload))
      ++sent;
    socket.wait_for_end();
  });
  dial(server);
  EXPECT_FALSE(listener->batches.pop(50ms));
  client->grant(3, plenty);
  take(3);
  for (size_t before = 1; before != sent;) {
    before = sent; // TCP's back-pressure stops the sender.
    EXPECT_FALSE(listener->batches.pop(100ms));
  }
  EXPECT_LT(sent, 5'000u);
  EXPECT_EQ(listener->frames_received, 3u);
  client->grant(plenty, 0);
  take(9'997);
  EXPECT_EQ(sent, 10'000u);
}

TEST_F(WsClientTest, BytesAreCreditTooAndTheLastFrameMayOverdraw) {
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    for (int i = 0; i < 5; ++i)
      peer.send_binary(std::string(100, 'x'));
    socket.wait_for_end();
  });
  dial(server);
  client->grant(plenty, 1);
  take(1);
  client->grant(0, 99);
  settle();
  EXPECT_EQ(listener->frames_received, 1u);
  client->grant(0, 101);
  take(2);
  EXPECT_FALSE(listener->batches.pop(30ms));
  client->grant(0, plenty);
  take(2);
}

// protocol-coverage.md 1.2: pings keep the connection; pongs count as life.
TEST_F(WsClientTest, PingsGoOutAndAreAnswered) {
  auto server = serve([&](ws_peer& peer, raw_peer&) {
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(peer.read(ws_opcode::ping).ok);
      peer.send(ws_opcode::pong);
    }
    peer.send(ws_opcode::ping, as_bytes("are you there"));
    EXPECT_EQ(peer.read(ws_opcode::pong).payload, "are you there");
    peer.send_close(1000);
  });
  options.ping_interval = 20ms;
  options.idle_timeout = 2s;
  dial(server);
  client->grant(1, 1);
  auto info = closed();
  EXPECT_EQ(info.close_code, 1000);
}

// hostile-inputs.md 2.1.22: a half-open stream must not stay for ever.
// protocol-coverage.md 1.2
TEST_F(WsClientTest, ASilentPeerIsGivenUp) {
  auto server = serve([](ws_peer&, raw_peer& x) {
    x.wait_for_end();
  });
  options.ping_interval = 10ms;
  options.idle_timeout = 60ms;
  dial(server);
  client->grant(1, 1);
  auto info = closed();
  EXPECT_EQ(info.reason.code, ec::unreachable);
  EXPECT_EQ(info.reason.context, "no sign of life");
}

TEST_F(WsClientTest, AnyByteIsASignOfLifeAndTimeWithoutCreditIsNotSilence) {
  inbox<bool> turns;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    for (int i = 0; i < 8; ++i) {
      peer.send(ws_opcode::pong);
      EXPECT_FALSE(turns.pop(20ms));
    }
    peer.send_binary("1");
    turns.pop();
    peer.send_binary("2");
    socket.wait_for_end();
  });
  options.idle_timeout = 100ms;
  dial(server);
  client->grant(1, plenty);
  take(1);
  EXPECT_FALSE(listener->closes.pop(250ms));
  turns.push(true);
  client->grant(1, 0);
  EXPECT_EQ(take(1).front(), "2");
}

TEST_F(WsClientTest, ThePeersCloseIsReportedAndAnswered) {
  inbox<uint16_t> codes;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    peer.send_binary("last");
    peer.send_close(1008, "FutureCursor");
    codes.push(peer.read_close_code());
    EXPECT_EQ(socket.wait_for_end(), outcome::end);
  });
  dial(server);
  client->grant(plenty, plenty);
  auto info = closed();
  EXPECT_EQ(info.reason.code, ec::unreachable);
  EXPECT_EQ(info.close_code, 1008);
  EXPECT_EQ(info.close_text, "FutureCursor");
  EXPECT_TRUE(info.opened);
  EXPECT_EQ(codes.pop(), 1008);
  EXPECT_EQ(take(1).front(), "last");
}

TEST_F(WsClientTest, ACutConnectionIsReportedWithoutACode) {
  auto server = serve([](ws_peer& peer, raw_peer& socket) {
    peer.send_binary("last");
    socket.close();
  });
  dial(server);
  client->grant(plenty, plenty);
  auto info = closed();
  EXPECT_EQ(info.reason.code, ec::unreachable);
  EXPECT_EQ(info.close_code, 0);
  EXPECT_EQ(take(1).front(), "last");
}

TEST_F(WsClientTest, ClosingSaysGoodbyeAndIsReportedOnce) {
  inbox<uint16_t> codes;
  auto server = serve([&](ws_peer& peer, raw_peer& socket) {
    codes.push(peer.read_close_code());
    peer.send_binary("ignored");
    peer.send_close(1001);
    EXPECT_EQ(socket.wait_for_end(), outcome::end);
  });
  dial(server);
  client->grant(plenty, plenty);
  client->close(1001);
  client.reset();
  EXPECT_EQ(closed().reason.code, ec::cancelled);
  EXPECT_EQ(codes.pop(), 1001);
  settle();
  EXPECT_EQ(listener->closes.size(), 0u);
  EXPECT_EQ(listener->frames_received, 0u);
}

TEST_F(WsClientTest, BrokenFramesEndTheConnection) {
  for (std::string_view wire : {"\xc2\x01x", "\x83\x01x", "\x80\x01x",
                                "\x82\x81\x01\x02\x03\x04x", "\x09\x01x"}) {
    inbox<uint16_t> codes;
    auto server = serve([&](ws_peer& peer, raw_peer& socket) {
      socket.send(wire);
      codes.push(peer.read_close_code());
    });
    dial(server);
    client->grant(plenty, plenty);
    EXPECT_EQ(closed().reason.code, ec::malformed);
    EXPECT_EQ(codes.pop(), ws_code::protocol_error);
  }
}

TEST_F(WsClientTest, TextIsTakenAndSentWhereAsked) {
  auto server = serve([](ws_peer& peer, raw_peer&) {
    peer.send_text("{\"id\":1}");
    EXPECT_EQ(peer.read(ws_opcode::text).payload, "ack 1");
    peer.send_close(1000);
  });
  options.accepts = ws_accepts::text;
  dial(server);
  client->grant(plenty, plenty);
  EXPECT_EQ(take(1).front(), "{\"id\":1}");
  EXPECT_TRUE(client->send_text("ack 1"));
  EXPECT_EQ(closed().close_code, 1000);
  EXPECT_FALSE(client->send_text("too late"));
}

TEST_F(WsClientTest, WhatWeSendIsBoundedInMessagesAndBytes) {
  for (auto by_bytes : {false, true}) {
    auto count = by_bytes ? size_t{512} : limits::ws_client_queue_max;
    // A masked header of 8 bytes makes 2,048 with 2,040 of payload.
    auto size = by_bytes ? limits::ws_client_queue_bytes_max / count - 8 : 1;
    auto server = serve([&](ws_peer& peer, raw_peer&) {
      for (size_t i = 0; i < count; ++i)
        EXPECT_EQ(peer.read(ws_opcode::text).payload.size(), size);
      peer.send_close(1000);
    });
    dial(server);
    inbox<bool> shut;
    inbox<bool> gate; // Blocks the loop, so that nothing is written meanwhile.
    threads.post([&] {
      shut.push(true);
      gate.pop();
    });
    shut.pop();
    size_t sent = 0;
    while (client->send_text(std::string(size, 'a')))
      ++sent;
    EXPECT_EQ(sent, count);
    gate.push(true);
    client->grant(1, 1);
    EXPECT_EQ(closed().close_code, 1000);
  }
}

} // namespace weir::net
