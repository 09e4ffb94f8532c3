#include "net/ws_client.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/unit/net/ws_session_fixture.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/buffers_to_string.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/websocket.hpp>

#include <random>

// Checks our framing against another implementation: Beast's WebSocket.

namespace weir::net {

namespace {

using namespace tests;
namespace asio = boost::asio;
namespace beast = boost::beast;
using beast_stream = beast::websocket::stream<asio::ip::tcp::socket>;

class collecting_listener final : public ws_listener {
public:
  void on_open() override {
    // nop
  }

  void on_frames(std::vector<shared_bytes> x) override {
    for (auto& frame : x)
      frames.push(std::string{as_text(frame.view())});
  }

  void on_close(const ws_close_info& info) override { closes.push(info); }

  inbox<std::string> frames;
  inbox<ws_close_info> closes;
};

/// Messages with sizes around every limit of the framing, and some random ones.
std::vector<std::string> messages() {
  std::mt19937 random{42};
  std::vector<std::string> out;
  for (size_t size : {0u, 1u, 125u, 126u, 127u, 65'535u, 65'536u, 65'537u})
    out.emplace_back(size, 'm');
  for (int i = 0; i < 200; ++i)
    out.emplace_back(random() % (i % 10 == 0 ? 200'000 : 500),
                     static_cast<char>('a' + i % 26));
  return out;
}

class WsInteropTest : public WsSessionFixture {
protected:
  beast_stream connect_beast() {
    asio::ip::tcp::socket socket{context};
    socket.connect({asio::ip::address_v4::loopback(), server->local().port});
    beast_stream x{std::move(socket)};
    beast::websocket::permessage_deflate offer;
    offer.client_enable = true; // It is offered, and not accepted.
    x.set_option(offer);
    x.read_message_max(1 << 20);
    std::thread accepting{[this] {
      accept();
    }};
    x.handshake("localhost", "/channel");
    accepting.join();
    return x;
  }

  asio::io_context context;
};

} // namespace

TEST_F(WsInteropTest, BeastReadsWhatOurSessionSends) {
  options.queue_messages_max = 1'000;
  options.queue_bytes_max = 100'000'000;
  auto peer = connect_beast();
  auto all = messages();
  for (size_t i = 0; i < all.size(); ++i)
    ASSERT_TRUE(session->send(i % 2 ? ws_message::text(all[i])
                                    : ws_message::binary(as_bytes(all[i]))));
  for (size_t i = 0; i < all.size(); ++i) {
    beast::flat_buffer buffer;
    peer.read(buffer);
    ASSERT_EQ(beast::buffers_to_string(buffer.data()), all[i]);
    EXPECT_EQ(peer.got_text(), i % 2 == 1);
  }
}

TEST_F(WsInteropTest, OurSessionReadsWhatBeastSends) {
  options.frames_per_second_max = 1e9;
  options.message_bytes_max = 1 << 20;
  auto peer = connect_beast();
  peer.text(true);
  for (auto fragmented : {false, true}) {
    peer.auto_fragment(fragmented);
    for (auto& x : messages()) {
      peer.write(asio::buffer(x));
      ASSERT_EQ(listener->texts.pop(), x);
    }
  }
}

TEST_F(WsInteropTest, BothSidesEndInGoodOrder) {
  auto peer = connect_beast();
  session->close(1001, "going");
  beast::flat_buffer buffer;
  beast::error_code error;
  peer.read(buffer, error);
  EXPECT_EQ(error, beast::websocket::error::closed);
  EXPECT_EQ(peer.reason().code, 1001);
  EXPECT_EQ(peer.reason().reason, "going");
  auto other = connect_beast();
  other.ping("x");
  other.close({beast::websocket::close_code::normal, "done"}, error);
  EXPECT_FALSE(error) << error.message();
  EXPECT_EQ(listener->closes.pop(), "closed by the peer");
}

TEST_F(WsInteropTest, OurClientReadsWhatBeastSendsAndIsRead) {
  auto all = messages();
  inbox<std::string> received;
  inbox<beast::error_code> ends;
  scripted_server host{[&](raw_peer& x, size_t) {
    asio::ip::tcp::socket socket{context, asio::ip::tcp::v4(), dup(x.fd())};
    beast_stream peer{std::move(socket)};
    peer.accept();
    peer.text(true);
    peer.auto_fragment(true);
    for (auto& message : all)
      peer.write(asio::buffer(message));
    beast::flat_buffer buffer;
    peer.read(buffer);
    received.push(beast::buffers_to_string(buffer.data()));
    beast::error_code error;
    peer.close({beast::websocket::close_code::policy_error, "enough"}, error);
    ends.push(error);
  }};
  ws_client_options how;
  how.guard = address_guard{true};
  how.accepts = ws_accepts::text;
  how.target = *parse_url("ws://127.0.0.1:" + std::to_string(host.port()));
  auto heard = std::make_shared<collecting_listener>();
  auto client = make_ws_client(network, how, heard);
  client->grant(1'000'000, 1'000'000'000);
  for (auto& message : all)
    ASSERT_EQ(heard->frames.pop(), message);
  EXPECT_TRUE(client->send_text("thanks"));
  EXPECT_EQ(received.pop(), "thanks");
  auto info = heard->closes.pop();
  ASSERT_TRUE(info);
  EXPECT_EQ(info->close_code, 1008);
  EXPECT_EQ(info->close_text, "enough");
  EXPECT_EQ(ends.pop(), beast::error_code{});
}

} // namespace weir::net
