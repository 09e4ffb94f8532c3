#include "net/ws_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/support/net_ws_peer.hpp"

namespace weir::net {

namespace {

using namespace tests;

class closing_listener final : public ws_listener {
public:
  void on_open() override {
    // nop
  }

  void on_frames(std::vector<shared_bytes>) override {
    // nop
  }

  void on_close(const ws_close_info& info) override { closes.push(info); }

  inbox<ws_close_info> closes;
};

class WsUpgradeTest : public NetFixture {
protected:
  WsUpgradeTest() { options.guard = address_guard{true}; }

  /// How an attempt to connect ends.
  ws_close_info attempt(std::string_view where) {
    options.target = *parse_url(where);
    auto listener = std::make_shared<closing_listener>();
    auto client = make_ws_client(network, options, listener);
    client->grant(1, 1);
    auto info = listener->closes.pop();
    EXPECT_TRUE(info) << where;
    return info.value_or(ws_close_info{});
  }

  /// The result when the upgrade is answered with `wire`, in which KEY stands
  /// for the right Sec-WebSocket-Accept.
  ws_close_info answered(std::string wire) {
    scripted_server server{[&wire](raw_peer& socket, size_t) {
      auto request = socket.read_until("\r\n\r\n");
      auto key = request.substr(request.find("Key: ") + 5, 24);
      if (auto at = wire.find("KEY"); at != wire.npos)
        wire.replace(at, 3, ws_accept_key(key));
      socket.send(wire);
    }};
    return attempt("ws://127.0.0.1:" + std::to_string(server.port()));
  }

  ws_client_options options;
};

} // namespace

// protocol-coverage.md 1.2: answers of servers instead of 101.
// protocol-coverage.md 11.2
TEST_F(WsUpgradeTest, OtherAnswersAreReportedWithTheirStatus) {
  struct {
    int status;
    ec code;
  } const cases[] = {
    {401, ec::invalid_argument}, {404, ec::invalid_argument},
    {405, ec::invalid_argument}, {426, ec::invalid_argument},
    {302, ec::invalid_argument}, {200, ec::invalid_argument},
    {429, ec::rate_limited},     {500, ec::unreachable},
    {501, ec::unreachable},      {503, ec::unreachable},
  };
  for (auto& x : cases) {
    auto info = answered("HTTP/1.1 " + std::to_string(x.status)
                         + " No\r\nRetry-After: 5\r\nLocation: /\r\n\r\n");
    EXPECT_EQ(info.http_status, x.status);
    EXPECT_EQ(info.reason.code, x.code) << x.status;
    EXPECT_EQ(info.retry_after, 5s);
    EXPECT_FALSE(info.opened);
  }
}

TEST_F(WsUpgradeTest, AnUpgradeThatIsNotExactlyOneIsRefused) {
  const std::string good = "HTTP/1.1 101 X\r\nUpgrade: WebSocket\r\n"
                           "Connection: keep-alive, upgrade\r\n"
                           "Sec-WebSocket-Accept: KEY\r\n\r\n";
  auto info = answered(good);
  EXPECT_TRUE(info.opened);
  EXPECT_EQ(info.reason.code, ec::unreachable);
  auto without = [&good](std::string_view part, std::string_view instead) {
    auto x = good;
    return x.replace(x.find(part), part.size(), instead);
  };
  for (auto& wire :
       {without("KEY", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="), without("KEY", ""),
        without("WebSocket\r\n", "h2c\r\n"), without("upgrade", "close"),
        without("Upgrade: WebSocket\r\n", ""),
        without("\r\n\r\n", "\r\nSec-WebSocket-Extensions: "
                            "permessage-deflate\r\n\r\n"),
        without("\r\n\r\n", "\r\nSec-WebSocket-Protocol: x\r\n\r\n"),
        std::string{"garbage\r\n\r\n"},
        "HTTP/1.1 101 X\r\nX: " + std::string(20'000, 'x')}) {
    info = answered(wire);
    EXPECT_EQ(info.reason.code, ec::malformed) << wire;
    EXPECT_FALSE(info.opened);
  }
}

TEST_F(WsUpgradeTest, AServerThatGoesAwayOrStaysSilentIsUnreachable) {
  EXPECT_EQ(answered("").reason.code, ec::unreachable);
  EXPECT_EQ(answered("HTTP/1.1 101").reason.code, ec::unreachable);
  scripted_server silent{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  options.upgrade_timeout = 40ms;
  auto info = attempt("ws://127.0.0.1:" + std::to_string(silent.port()));
  EXPECT_EQ(info.reason.code, ec::unreachable);
  EXPECT_EQ(info.http_status, 0);
}

TEST_F(WsUpgradeTest, APortThatNobodyListensOnIsUnreachable) {
  uint16_t port = 0;
  {
    scripted_server gone{[](raw_peer&, size_t) {}};
    port = gone.port();
  }
  EXPECT_EQ(attempt("ws://127.0.0.1:" + std::to_string(port)).reason.code,
            ec::unreachable);
}

TEST_F(WsUpgradeTest, TheGuardIsAskedBeforeAnyPacket) {
  scripted_server server{[](raw_peer&, size_t) {}};
  options.guard = address_guard{};
  auto port = std::to_string(server.port());
  for (auto& where :
       {"ws://127.0.0.1:" + port, "wss://127.0.0.1:" + port,
        std::string{"wss://localhost/"}, std::string{"ws://example.com/"}})
    EXPECT_EQ(attempt(where).reason.code, ec::invalid_argument) << where;
  EXPECT_EQ(server.accepted(), 0u);
}

TEST_F(WsUpgradeTest, BadOptionsAreRefused) {
  EXPECT_EQ(attempt("http://127.0.0.1:1/").reason.code, ec::invalid_argument);
  EXPECT_EQ(attempt("wss://127.0.0.1:1/").reason.code, ec::invalid_argument)
    << "no TLS was set up";
  scripted_server server{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  options.headers.push_back({"X", "a\r\nY: b"});
  EXPECT_EQ(
    attempt("ws://127.0.0.1:" + std::to_string(server.port())).reason.code,
    ec::invalid_argument);
}

TEST_F(WsUpgradeTest, ClosingWhileConnectingIsReported) {
  scripted_server silent{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  options.target
    = *parse_url("ws://127.0.0.1:" + std::to_string(silent.port()));
  auto listener = std::make_shared<closing_listener>();
  make_ws_client(network, options, listener).reset();
  auto info = listener->closes.pop();
  ASSERT_TRUE(info);
  EXPECT_EQ(info->reason.code, ec::cancelled);
}

} // namespace weir::net
