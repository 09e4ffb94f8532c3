#include "tests/unit/net/ws_session_fixture.hpp"

namespace weir::net {

namespace {

using namespace tests;
using outcome = raw_peer::outcome;

class WsSessionTest : public WsSessionFixture {};

} // namespace

TEST_F(WsSessionTest, AnUpgradeIsAnsweredByTheRules) {
  auto socket = dial();
  auto peer = connect(socket);
  EXPECT_EQ(peer.answer,
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n"
            "Connection: Upgrade\r\nSec-WebSocket-Accept: "
            "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
  EXPECT_EQ(session->peer(), ip_address::loopback_v4());
}

TEST_F(WsSessionTest, MessagesGoBothWays) {
  auto socket = dial();
  auto peer = connect(socket);
  EXPECT_TRUE(session->send(ws_message::text("{\"id\":1}")));
  EXPECT_TRUE(session->send(ws_message::binary(as_bytes("\x01\x02"))));
  auto text = peer.read();
  EXPECT_EQ(text.opcode, ws_opcode::text);
  EXPECT_EQ(text.payload, "{\"id\":1}");
  auto binary = peer.read();
  EXPECT_EQ(binary.opcode, ws_opcode::binary);
  EXPECT_EQ(binary.payload, "\x01\x02");
  peer.send_text("ack");
  peer.send_binary("raw");
  EXPECT_EQ(listener->texts.pop(), "ack");
  EXPECT_EQ(listener->binaries.pop(), "raw");
}

TEST_F(WsSessionTest, ManyMessagesArriveWholeAndInOrder) {
  options.queue_messages_max = 100'000;
  options.queue_bytes_max = 100'000'000;
  auto socket = dial(8'192);
  auto peer = connect(socket);
  constexpr int count = 20'000;
  std::thread sender{[this] {
    for (int i = 0; i < count; ++i) {
      auto text
        = std::to_string(i) + std::string(static_cast<size_t>(i % 300), '.');
      EXPECT_TRUE(session->send(ws_message::text(text)));
    }
  }};
  for (int i = 0; i < count; ++i) {
    auto x = peer.read();
    ASSERT_TRUE(x.ok);
    ASSERT_EQ(x.payload, std::to_string(i)
                           + std::string(static_cast<size_t>(i % 300), '.'));
  }
  sender.join();
  settle();
  EXPECT_EQ(session->queued_messages(), 0u);
  EXPECT_EQ(session->queued_bytes(), 0u);
}

// hostile-inputs.md 2.2.8: the write side is bounded.
TEST_F(WsSessionTest, TheQueueIsBoundedInMessagesAndSaysWhenItDrained) {
  options.queue_messages_max = 10;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto big = ws_message::text(std::string(100'000, 'x'));
  size_t sent = 0;
  // The kernel takes some, too; only the queue must be full.
  do {
    sent += fill(big);
    settle();
  } while (session->queued_messages() < 10);
  EXPECT_EQ(session->queued_messages(), 10u);
  EXPECT_FALSE(session->send(big));
  EXPECT_EQ(listener->drains.size(), 0u);
  for (size_t i = 0; i < sent; ++i)
    ASSERT_EQ(peer.read().payload.size(), 100'000u);
  EXPECT_TRUE(listener->drains.pop());
  EXPECT_TRUE(session->send(big));
  settle();
  EXPECT_EQ(listener->drains.size(), 0u);
}

TEST_F(WsSessionTest, TheBoundsOfTheQueueAreExact) {
  auto message = ws_message::text(std::string(98, 'x'));
  ASSERT_EQ(message.size(), 100u);
  for (auto bounds : {std::pair<size_t, size_t>{10, 100'000},
                      {1'000, 1'000},
                      {1'000, 1'099}}) {
    options.queue_messages_max = bounds.first;
    options.queue_bytes_max = bounds.second;
    auto socket = dial();
    auto peer = connect(socket);
    inbox<bool> gate; // Blocks the loop, so that nothing is written meanwhile.
    threads.post([&gate] {
      gate.pop();
    });
    EXPECT_EQ(fill(message), 10u);
    EXPECT_EQ(session->queued_messages(), 10u);
    EXPECT_EQ(session->queued_bytes(), 1'000u);
    gate.push(true);
    EXPECT_TRUE(listener->drains.pop());
    for (int i = 0; i < 10; ++i)
      EXPECT_TRUE(peer.read().ok);
  }
}

TEST_F(WsSessionTest, AnEmptyQueueTakesOneMessageOfAnySize) {
  options.queue_bytes_max = 1'000;
  auto socket = dial();
  auto peer = connect(socket);
  EXPECT_TRUE(session->send(ws_message::text(std::string(9'000'000, 'x'))));
  EXPECT_FALSE(session->send(ws_message::text("y")));
  EXPECT_EQ(session->queued_messages(), 1u);
  EXPECT_EQ(peer.read().payload.size(), 9'000'000u);
  EXPECT_TRUE(listener->drains.pop());
  EXPECT_TRUE(session->send(ws_message::text("y")));
}

// A pong must not wait behind events.
TEST_F(WsSessionTest, APongOvertakesQueuedMessages) {
  options.queue_messages_max = 2'000;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto message = ws_message::text(std::string(10'000, 'x'));
  for (int i = 0; i < 800; ++i) // 8 MB, the default limit of the queue.
    ASSERT_TRUE(session->send(message));
  settle();
  ASSERT_GT(session->queued_messages(), 100u);
  peer.send(ws_opcode::ping, as_bytes("now"));
  size_t before = 0;
  for (auto x = peer.read(); x.opcode != ws_opcode::pong; x = peer.read()) {
    ASSERT_TRUE(x.ok);
    ++before;
  }
  // Only what the kernel already had (128 KiB unsent, and the peer's window).
  EXPECT_LT(before, 200u);
  size_t after = 0;
  for (; before + after < 800; ++after)
    ASSERT_EQ(peer.read(ws_opcode::text).payload.size(), 10'000u);
  EXPECT_GT(after, 600u);
}

// api.md, GET /channel: Tap's channels are cut without a close frame.
TEST_F(WsSessionTest, ACutIsSeenWithoutACloseFrame) {
  auto socket = dial();
  auto peer = connect(socket);
  session->send(ws_message::text("first"));
  EXPECT_EQ(peer.read().payload, "first");
  session->cut();
  auto end = peer.read();
  EXPECT_FALSE(end.ok);
  EXPECT_EQ(socket.wait_for_end(), outcome::end);
  EXPECT_EQ(listener->closes.pop(), "cut by us");
  EXPECT_FALSE(session->send(ws_message::text("late")));
}

TEST_F(WsSessionTest, DroppingTheSessionCutsIt) {
  auto socket = dial();
  auto peer = connect(socket);
  session.reset();
  EXPECT_FALSE(peer.read().ok);
  EXPECT_TRUE(listener->closes.pop());
}

TEST_F(WsSessionTest, CloseOvertakesTheQueueAndWaitsForTheAnswer) {
  options.queue_messages_max = 10'000;
  auto socket = dial(4'096);
  auto peer = connect(socket);
  auto message = ws_message::text(std::string(10'000, 'x'));
  auto sent = fill(message);
  session->close(1008, "too slow");
  EXPECT_EQ(listener->closes.pop(), "closed by us");
  size_t got = 0;
  auto x = peer.read();
  for (; x.ok && x.opcode == ws_opcode::text; x = peer.read()) {
    EXPECT_EQ(x.payload.size(), 10'000u); // No message is cut in two.
    ++got;
  }
  EXPECT_EQ(x.payload, "\x03\xf0too slow");
  EXPECT_LT(got, sent);
  peer.send_close(1008);
  EXPECT_EQ(socket.wait_for_end(), outcome::end);
}

TEST_F(WsSessionTest, ThePeersCloseIsAnswered) {
  auto socket = dial();
  auto peer = connect(socket);
  peer.send_text("last");
  peer.send_close(1001, "bye");
  EXPECT_EQ(peer.read_close_code(), 1001);
  EXPECT_EQ(socket.wait_for_end(), outcome::end);
  EXPECT_EQ(listener->texts.pop(), "last");
  EXPECT_EQ(listener->closes.pop(), "closed by the peer");
}

TEST_F(WsSessionTest, TheEndOfTheServerEndsItsSessions) {
  auto socket = dial();
  auto peer = connect(socket);
  EXPECT_EQ(server->connections(), 1u);
  server.reset();
  EXPECT_FALSE(peer.read().ok);
  EXPECT_EQ(listener->closes.pop(), "the server was closed");
}

TEST_F(WsSessionTest, AConnectionCountsUntilItIsGone) {
  auto socket = dial();
  auto peer = connect(socket);
  session->cut();
  EXPECT_TRUE(listener->closes.pop());
  session.reset();
  auto until = std::chrono::steady_clock::now() + patience;
  while (server->connections() > 0 && std::chrono::steady_clock::now() < until)
    settle();
  EXPECT_EQ(server->connections(), 0u);
}

// -- upgrades -----------------------------------------------------------------

TEST_F(WsSessionTest, UpgradesCanBeRejectedCutOrForgotten) {
  auto ask = [this](const std::function<void(upgrader&)>& decide) {
    auto socket = dial();
    std::thread deciding{[&] {
      auto upgrade = service->upgrades.pop();
      if (upgrade)
        decide(upgrade->second);
    }};
    auto peer = ws_peer::ask(socket, "/channel?x=1");
    deciding.join();
    return peer.answer;
  };
  EXPECT_TRUE(ask([](upgrader& x) {
                x.reject(error_reply(401, "AuthRequired", "Say who you are."));
              }).starts_with("HTTP/1.1 401 "));
  EXPECT_EQ(ask([](upgrader& x) {
              x.cut();
            }),
            "");
  EXPECT_TRUE(ask([](upgrader&) {}).starts_with("HTTP/1.1 500 "));
  ask([](upgrader& x) {
    x.reject(error_reply(404, "NotFound", "Nothing."));
    EXPECT_EQ(x.accept(std::make_shared<recording_session_listener>()),
              nullptr);
  });
}

TEST_F(WsSessionTest, MalformedUpgradesAreRefused) {
  auto answer = [this](std::string_view lines) {
    auto socket = dial();
    socket.send("GET / HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\n"
                + std::string{lines} + "\r\n");
    return socket.read_until("\r\n\r\n");
  };
  std::string key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
  std::string version = "Sec-WebSocket-Version: 13\r\n";
  for (auto& lines : {version, version + "Sec-WebSocket-Key: short==\r\n",
                      version + "Sec-WebSocket-Key: !!!!!!!!!!!!!!!!!!!!!!==\r\n",
                      version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZR==\r\n",
                      version + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j\r\n",
                      version + key + "Content-Length: 5\r\n"})
    EXPECT_TRUE(answer(lines).starts_with("HTTP/1.1 400 ")) << lines;
  for (auto& lines : {key, key + "Sec-WebSocket-Version: 12\r\n"}) {
    auto head = answer(lines);
    EXPECT_TRUE(head.starts_with("HTTP/1.1 426 ")) << lines;
    EXPECT_NE(head.find("Sec-WebSocket-Version: 13\r\n"), std::string::npos);
  }
  EXPECT_EQ(service->upgrades.size(), 0u);
}

} // namespace weir::net
