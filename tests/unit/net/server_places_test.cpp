#include "net/http_server.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"

// Places of connections on real sockets.
namespace weir::tests {
namespace {

using namespace weir::net;
using outcome = raw_peer::outcome;

class ok_service final : public http_service {
public:
  std::optional<http_reply> on_head(incoming_request& head) override {
    head.open_to_all = head.path == "/open";
    return std::nullopt;
  }

  void on_request(incoming_request, responder answer) override {
    answer.send(json_reply(200, "ok"));
  }
};

class ServerPlacesTest : public NetFixture {
protected:
  ServerPlacesTest() {
    http_server_options options;
    options.at.address = ip_address::loopback_v4();
    options.places.all_max = 5;
    options.places.per_address_max = 3;
    server
      = *make_http_server(network, std::make_shared<ok_service>(), options);
  }

  raw_peer dial(const char* source) const {
    return raw_peer::dial(server->local().port, source);
  }

  static bool is_answered(raw_peer& x, const std::string& path) {
    x.send("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n");
    return x.read_until("ok").starts_with("HTTP/1.1 200 ");
  }

  /// A connection that was answered.
  raw_peer known(const char* source) const {
    auto out = dial(source);
    EXPECT_TRUE(is_answered(out, "/")) << source;
    return out;
  }

  std::shared_ptr<http_server> server;
};

} // namespace

TEST_F(ServerPlacesTest, ConnectionsAreBoundedInAllAndPerAddress) {
  std::vector<raw_peer> peers;
  for (int i = 0; i < 3; ++i)
    peers.push_back(known("127.0.0.2"));
  EXPECT_NE(dial("127.0.0.2").wait_for_end(), outcome::timeout);
  for (int i = 0; i < 2; ++i)
    peers.push_back(known("127.0.0.3"));
  EXPECT_NE(dial("127.0.0.4").wait_for_end(), outcome::timeout);
  EXPECT_EQ(server->connections(), 5u);
  peers.pop_back();
  peers[0].close();
  const auto until = std::chrono::steady_clock::now() + patience;
  while (server->connections() != 3
         && std::chrono::steady_clock::now() < until)
    settle();
  EXPECT_EQ(server->connections(), 3u);
  for (const auto* source : {"127.0.0.2", "127.0.0.4"})
    peers.push_back(known(source));
}

TEST_F(ServerPlacesTest, AStrangerMakesRoomForWhoComesLater) {
  const auto asked = known("127.0.0.2");
  auto silent = dial("127.0.0.2");
  const auto other = dial("127.0.0.2");
  const auto later = known("127.0.0.2");
  EXPECT_NE(silent.wait_for_end(), outcome::timeout);
  EXPECT_EQ(server->connections(), 3u);
}

// What anybody may ask is answered, also when the places of strangers are
// taken, but keeps no place.
TEST_F(ServerPlacesTest, ARequestThatIsOpenToAllMakesNobodyKnown) {
  std::vector<raw_peer> peers;
  for (int i = 0; i < 6; ++i) {
    peers.push_back(dial("127.0.0.2"));
    EXPECT_TRUE(is_answered(peers.back(), "/open")) << i;
  }
  for (int i = 0; i < 3; ++i)
    EXPECT_NE(peers[i].wait_for_end(), outcome::timeout) << i;
  const auto later = known("127.0.0.2");
  EXPECT_NE(peers[3].wait_for_end(), outcome::timeout);
  EXPECT_EQ(server->connections(), 3u);
}

// Monitoring may keep its connection open, and a proxy passes on requests of
// several clients on one.
TEST_F(ServerPlacesTest, AConnectionIsKnownFromTheFirstRequestThatIsNotOpen) {
  auto before = known("127.0.0.2");
  auto after = dial("127.0.0.2");
  for (const auto* path : {"/open", "/open", "/"})
    EXPECT_TRUE(is_answered(after, path)) << path;
  for (auto* x : {&before, &after})
    EXPECT_TRUE(is_answered(*x, "/open"));
  auto silent = dial("127.0.0.2");
  auto later = known("127.0.0.2");
  EXPECT_NE(silent.wait_for_end(), outcome::timeout);
  for (auto* x : {&before, &after, &later})
    EXPECT_TRUE(is_answered(*x, "/open"));
}

} // namespace weir::tests
