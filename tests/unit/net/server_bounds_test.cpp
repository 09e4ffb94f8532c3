#include "net/http_server.hpp"
#include "net/limits.hpp"
#include "tests/support/net_memory.hpp"

#include <gtest/gtest.h>

// The default limits of a server, tested at the limit and just above it
// (hostile-inputs.md 2.2).

namespace weir::net {

namespace {

using namespace std::chrono_literals;
using tests::memory_stream;
using tests::memory_stream_ptr;
using tests::memory_transport;

constexpr std::string_view get_root = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

/// Answers each request at once with a given number of bytes.
class plain_service final : public http_service {
public:
  void on_request(incoming_request, responder answer) override {
    auto reply = json_reply(200, std::string(body_bytes, 'x'));
    reply.delay = delay;
    answer.send(std::move(reply));
  }

  size_t body_bytes = 2;
  std::chrono::microseconds delay{0};
};

class ServerBoundsTest : public testing::Test {
protected:
  ServerBoundsTest() { server = *make_http_server(network, service, {}); }

  ~ServerBoundsTest() override {
    server.reset();
    network->loop.run();
  }

  /// A client of address number `i`.
  memory_stream_ptr connect(size_t i) {
    return network->connect(("10.0.0." + std::to_string(i + 1)).c_str());
  }

  /// A client whose request was answered.
  memory_stream_ptr known(size_t i) {
    auto out = connect(i);
    out->feed(std::string{get_root});
    EXPECT_TRUE(out->take().starts_with("HTTP/1.1 200 "));
    return out;
  }

  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  std::shared_ptr<plain_service> service = std::make_shared<plain_service>();
  std::shared_ptr<http_server> server;
};

} // namespace

TEST_F(ServerBoundsTest, AnAddressHasSoManyConnectionsAndNotOneMore) {
  std::vector<memory_stream_ptr> open;
  for (size_t i = 0; i < limits::http_server_per_address_max; ++i) {
    open.push_back(known(0));
    EXPECT_FALSE(open.back()->closed()) << i;
  }
  EXPECT_TRUE(connect(0)->closed());
  EXPECT_FALSE(connect(1)->closed());
  open.front()->feed("\r\n"); // Refused, then it lingers.
  network->loop.advance(limits::http_linger_timeout);
  EXPECT_FALSE(connect(0)->closed());
}

TEST_F(ServerBoundsTest, ThereAreSoManyConnectionsAndNotOneMore) {
  size_t open = 0;
  for (size_t address = 0; open < limits::http_server_connections_max;
       ++address)
    for (size_t i = 0; i < limits::http_server_per_address_max
                       && open < limits::http_server_connections_max;
         ++i, ++open)
      ASSERT_FALSE(known(address)->closed()) << open;
  EXPECT_EQ(server->connections(), limits::http_server_connections_max);
  EXPECT_TRUE(connect(200)->closed());
}

// limits::http_server_per_network_max: clients without a request make room.
TEST_F(ServerBoundsTest, StrangersOfANetworkMakeRoomForEachOther) {
  const auto asked = known(0);
  std::vector<memory_stream_ptr> silent;
  for (size_t i = 0; i < limits::http_server_per_network_max; ++i)
    silent.push_back(connect(i));
  EXPECT_FALSE(silent[0]->closed());
  EXPECT_FALSE(connect(200)->closed());
  EXPECT_TRUE(silent[0]->closed());
  EXPECT_FALSE(silent[1]->closed());
  EXPECT_FALSE(asked->closed());
}

TEST_F(ServerBoundsTest, AnAnswerGoesOutAfterItsDelay) {
  service->delay = 1s;
  const auto guesser = network->connect();
  guesser->feed(std::string{get_root} + std::string{get_root});
  network->loop.advance(1s - 1us);
  EXPECT_EQ(guesser->take(), "");
  network->loop.advance(1us);
  EXPECT_TRUE(guesser->take().starts_with("HTTP/1.1 200 "));
  network->loop.advance(1s - 1us);
  EXPECT_EQ(guesser->take(), "") << "the next one waits as well";
  network->loop.advance(1us);
  EXPECT_TRUE(guesser->take().starts_with("HTTP/1.1 200 "));
}

TEST_F(ServerBoundsTest, AHeadMustComeInTime) {
  const auto silent = network->connect();
  const auto slow = network->connect();
  network->loop.advance(limits::http_server_head_timeout - 1us);
  slow->feed("GET / HTTP/1.1\r\n");
  EXPECT_FALSE(silent->closed());
  EXPECT_EQ(slow->take(), "");
  network->loop.advance(1us);
  EXPECT_TRUE(silent->closed());
  EXPECT_TRUE(slow->take().starts_with("HTTP/1.1 408 "));
}

TEST_F(ServerBoundsTest, ABodyMustComeInTime) {
  const auto slow = network->connect();
  slow->feed("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx");
  network->loop.advance(limits::http_server_body_timeout - 1us);
  EXPECT_EQ(slow->take(), "");
  network->loop.advance(1us);
  EXPECT_TRUE(slow->take().starts_with("HTTP/1.1 408 "));
}

TEST_F(ServerBoundsTest, AnIdleConnectionIsClosedAfterItsTime) {
  const auto idle = network->connect();
  idle->feed(std::string{get_root});
  EXPECT_TRUE(idle->take().starts_with("HTTP/1.1 200 "));
  network->loop.advance(limits::http_server_idle_timeout - 1us);
  EXPECT_FALSE(idle->closed());
  network->loop.advance(1us);
  EXPECT_TRUE(idle->closed());
}

TEST_F(ServerBoundsTest, AnAnswerMustBeTakenInTime) {
  const auto stuck = network->connect();
  stuck->set_room(10);
  stuck->feed(std::string{get_root});
  network->loop.advance(limits::http_server_idle_timeout - 1us);
  stuck->set_room(10); // It takes a part, so the time starts again.
  network->loop.advance(limits::http_server_idle_timeout - 1us);
  EXPECT_FALSE(stuck->closed());
  network->loop.advance(1us);
  EXPECT_TRUE(stuck->closed());
}

TEST_F(ServerBoundsTest, ARefusedClientMayGoOnForItsTime) {
  const auto refused = network->connect();
  refused->feed("garbage\r\n\r\n");
  EXPECT_TRUE(refused->take().starts_with("HTTP/1.1 400 "));
  EXPECT_TRUE(refused->is_shut_down());
  network->loop.advance(limits::http_linger_timeout - 1us);
  EXPECT_FALSE(refused->closed());
  network->loop.advance(1us);
  EXPECT_TRUE(refused->closed());
}

TEST_F(ServerBoundsTest, ARefusedClientMaySendSoManyBytesAndNotOneMore) {
  const auto refused = network->connect();
  refused->feed("garbage\r\n\r\n");
  refused->feed(std::string(limits::http_linger_bytes_max, 'x'));
  EXPECT_FALSE(refused->closed());
  refused->feed("x");
  EXPECT_TRUE(refused->closed());
}

} // namespace weir::net
