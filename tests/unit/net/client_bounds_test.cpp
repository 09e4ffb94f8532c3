#include "net/http_client.hpp"
#include "net/io_threads.hpp"
#include "net/limits.hpp"
#include "tests/support/net_memory.hpp"

#include <gtest/gtest.h>

// The default limits of a client, tested at the limit and just above it
// (hostile-inputs.md 2.1).

namespace weir::net {

namespace {

using namespace std::chrono_literals;
using tests::memory_stream;
using tests::memory_stream_ptr;
using tests::memory_transport;

std::string ok(size_t size, std::string_view lines = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n"
         + std::string{lines} + "\r\n";
}

/// Records how long the handshake may take; never ends it.
class waiting_tls final : public tls_client {
public:
  void connect(stream_ptr, std::string, std::chrono::microseconds timeout,
               stream_handler) const override {
    timeouts.push_back(timeout);
  }

  mutable std::vector<std::chrono::microseconds> timeouts;
};

/// One client of servers that the test plays.
class ClientBoundsTest : public testing::Test {
protected:
  ClientBoundsTest() {
    http_client_options options;
    options.guard = address_guard{true};
    options.tls = tls;
    client = make_http_client(network, options);
  }

  ~ClientBoundsTest() override {
    client.reset();
    network->loop.run();
  }

  /// Sends a request to host number `host`; `outcomes` gets the result.
  void get(size_t host = 1, std::string_view scheme = "http") {
    http_request x;
    x.target
      = *parse_url(std::string{scheme} + "://10.0." + std::to_string(host / 250)
                   + "." + std::to_string(host % 250 + 1) + "/");
    client->get(std::move(x), [this](const result<http_response>& y) {
      outcomes.push_back(y ? ec::none : y.error().code);
      body_bytes = y ? y->body.size() : 0;
    });
    network->loop.run();
  }

  memory_stream& server(size_t i) { return *network->dialled.at(i); }

  memory_stream& server() { return *network->dialled.back(); }

  void expect_outcome(ec x) {
    ASSERT_EQ(outcomes.size(), 1u);
    EXPECT_EQ(outcomes.front(), x);
  }

  /// Expects that nothing happens until `limit` has passed and that the call
  /// then fails.
  void expect_given_up_after(std::chrono::microseconds limit) {
    network->loop.advance(limit - 1us);
    EXPECT_TRUE(outcomes.empty());
    network->loop.advance(1us);
    expect_outcome(ec::unreachable);
    EXPECT_TRUE(server().closed());
  }

  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  std::shared_ptr<waiting_tls> tls = std::make_shared<waiting_tls>();
  http_client_ptr client;
  std::vector<ec> outcomes;
  size_t body_bytes = 0;
};

} // namespace

TEST_F(ClientBoundsTest, ConnectingAndTheHandshakeHaveTheirTimes) {
  get(1, "https");
  EXPECT_EQ(network->dial_timeouts,
            std::vector<std::chrono::microseconds>{limits::connect_timeout});
  EXPECT_EQ(tls->timeouts,
            std::vector<std::chrono::microseconds>{limits::tls_timeout});
}

TEST_F(ClientBoundsTest, AServerThatSaysNothingIsGivenUp) {
  get();
  expect_given_up_after(limits::first_byte_timeout);
}

TEST_F(ClientBoundsTest, AHeadThatDripsInDoesNotGetMoreTime) {
  get();
  network->loop.advance(limits::first_byte_timeout - 1s);
  server().feed("HTTP/1.1 200 OK\r\n");
  expect_given_up_after(1s);
}

TEST_F(ClientBoundsTest, ACallEndsWhenItsWholeTimeIsOver) {
  const auto window_bytes = static_cast<size_t>(
    limits::http_bytes_per_second_min * limits::http_rate_window / 1s);
  get();
  server().feed(ok(limits::http_response_bytes_default));
  server().feed(std::string(window_bytes, 'x'));
  network->loop.advance(limits::http_rate_window);
  server().feed(std::string(window_bytes, 'x'));
  expect_given_up_after(limits::http_total_timeout - limits::http_rate_window);
}

// Slowloris: exactly the required number of bytes, and one less.
TEST_F(ClientBoundsTest, ABodyMustComeFastEnough) {
  const auto window_bytes = static_cast<size_t>(
    limits::http_bytes_per_second_min * limits::http_rate_window / 1s);
  for (const size_t missing : {0, 1}) {
    outcomes.clear();
    get();
    server().feed(ok(limits::http_response_bytes_default));
    server().feed(std::string(window_bytes - missing, 'x'));
    network->loop.advance(limits::http_rate_window - 1us);
    EXPECT_TRUE(outcomes.empty());
    network->loop.advance(1us);
    EXPECT_EQ(outcomes.size(), missing);
    network->loop.advance(limits::http_total_timeout); // The end of either.
  }
}

TEST_F(ClientBoundsTest, ABodyHasSoManyBytesAndNotOneMore) {
  for (const size_t more : {0, 1}) {
    outcomes.clear();
    get();
    server().feed("HTTP/1.1 200 OK\r\n\r\n");
    server().feed(std::string(limits::http_response_bytes_default + more, 'x'));
    if (more == 0) {
      EXPECT_TRUE(outcomes.empty());
      network->loop.advance(limits::http_total_timeout);
    } else {
      expect_outcome(ec::limit_reached);
    }
  }
}

TEST_F(ClientBoundsTest, AHeadHasSoManyBytesAndNotOneMore) {
  const auto frame = ok(0, "X: \r\n").size();
  for (const size_t more : {0, 1}) {
    outcomes.clear();
    get();
    const std::string filler(
      limits::http_response_head_bytes_max - frame + more, 'x');
    server().feed(ok(0, "X: " + filler + "\r\n"));
    expect_outcome(more == 0 ? ec::none : ec::limit_reached);
  }
}

TEST_F(ClientBoundsTest, SoManyRedirectsAreFollowedAndNotOneMore) {
  for (const unsigned hops :
       {limits::http_redirects_max, limits::http_redirects_max + 1}) {
    outcomes.clear();
    network->dialled.clear();
    get(hops); // Each goes to a host of its own.
    for (unsigned i = 1; i <= hops; ++i)
      server().feed("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /"
                    + std::to_string(i) + "\r\n\r\n");
    if (hops == limits::http_redirects_max)
      server().feed(ok(0));
    expect_outcome(hops == limits::http_redirects_max ? ec::none
                                                      : ec::invalid_argument);
    EXPECT_EQ(network->dialled.size(), limits::http_redirects_max + 1);
  }
}

TEST_F(ClientBoundsTest, SoManyInformationalAnswersAreTakenAndNotOneMore) {
  for (const unsigned more : {0u, 1u}) {
    outcomes.clear();
    get();
    std::string answer;
    for (unsigned i = 0; i < limits::http_interims_max + more; ++i)
      answer += "HTTP/1.1 103 Early Hints\r\n\r\n";
    server().feed(answer + ok(0));
    expect_outcome(more == 0 ? ec::none : ec::malformed);
  }
}

TEST_F(ClientBoundsTest, AnOriginHasSoManyConnectionsAndTheNextCallWaits) {
  for (size_t i = 0; i <= limits::http_connections_per_origin_max; ++i)
    get();
  EXPECT_EQ(network->dialled.size(), limits::http_connections_per_origin_max);
  server(0).feed(ok(0));
  expect_outcome(ec::none);
  server(0).feed(ok(0));
  EXPECT_EQ(outcomes.size(), 2u) << "the one that waited has its connection";
  EXPECT_EQ(network->dialled.size(), limits::http_connections_per_origin_max);
}

TEST_F(ClientBoundsTest, SoManyCallsWaitAndTheNextOneIsRefused) {
  const auto all
    = limits::http_connections_per_origin_max + limits::http_waiting_calls_max;
  for (size_t i = 0; i < all; ++i)
    get();
  EXPECT_TRUE(outcomes.empty());
  get();
  expect_outcome(ec::limit_reached);
}

TEST_F(ClientBoundsTest, AnIdleConnectionIsClosedAfterItsTime) {
  get();
  server().feed(ok(0));
  network->loop.advance(limits::http_client_idle_timeout - 1us);
  EXPECT_FALSE(server().closed());
  network->loop.advance(1us);
  EXPECT_TRUE(server().closed());
}

TEST_F(ClientBoundsTest, SoManyConnectionsAreKeptAndTheOldestGoes) {
  for (size_t i = 0; i < limits::http_idle_connections_max; ++i) {
    get(i);
    server().feed(ok(0));
    network->loop.advance(1ms);
  }
  EXPECT_FALSE(server(0).closed());
  get(limits::http_idle_connections_max);
  server().feed(ok(0));
  EXPECT_TRUE(server(0).closed());
  EXPECT_FALSE(server(1).closed());
}

} // namespace weir::net
