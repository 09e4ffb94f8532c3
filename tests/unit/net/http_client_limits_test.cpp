#include "net/http_client.hpp"
#include "net/limits.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"

#include <zlib.h>

namespace weir::net {

namespace {

using namespace tests;
using outcome = raw_peer::outcome;

/// Records the calls of a sink.
class recording_sink final : public http_sink {
public:
  bool on_head(const http_response_head& head) override {
    heads.push(head);
    return wanted;
  }

  void on_body(bytes_view piece) override {
    largest = std::max(largest.load(), piece.size());
    received += piece.size();
    pieces.push(piece.size());
  }

  void on_end(result<void> x) override {
    ends.push(x ? ec::none : x.error().code);
  }

  bool wanted = true;
  inbox<http_response_head> heads;
  inbox<size_t> pieces;
  std::atomic<size_t> received = 0;
  std::atomic<size_t> largest = 0;
  inbox<ec> ends;
};

std::string gzip(std::string_view x) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, x.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(x.data()));
  z.avail_in = static_cast<uInt>(x.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

std::string head_of(size_t size, std::string_view lines = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size) + "\r\n"
         + std::string{lines} + "\r\n";
}

class HttpClientLimitsTest : public NetFixture {
protected:
  HttpClientLimitsTest() {
    http_client_options options;
    options.guard = address_guard{true};
    client = make_http_client(network, options);
  }

  static http_request request(const scripted_server& to) {
    http_request x;
    x.target = *parse_url(to.origin() + "/");
    return x;
  }

  http_call_ptr stream(http_request x) {
    sink = std::make_shared<recording_sink>();
    return client->stream(std::move(x), sink);
  }

  /// The end of a call.
  ec end_of(http_request x) {
    stream(std::move(x));
    return sink->ends.pop().value_or(ec::limit_reached);
  }

  /// Waits for the pieces of the next `n` bytes.
  void expect_bytes(size_t n) {
    while (n > 0) {
      auto piece = sink->pieces.pop();
      ASSERT_TRUE(piece);
      ASSERT_LE(*piece, n);
      n -= *piece;
    }
  }

  std::shared_ptr<recording_sink> sink;
  http_client_ptr client;
};

/// Sends one answer, then waits until the client closes.
scripted_server once(std::string wire) {
  return scripted_server{[wire = std::move(wire)](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(wire);
    peer.wait_for_end();
  }};
}

} // namespace

TEST_F(HttpClientLimitsTest, BodiesPassUpToTheLimitInEveryFraming) {
  constexpr size_t limit = 100'000;
  auto chunks = [](size_t n) {
    return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n"
           + std::string(limit, 'x')
           + (n > limit ? "\r\n1\r\nx\r\n0\r\n\r\n" : "\r\n0\r\n\r\n");
  };
  auto sized = [](size_t n) {
    return head_of(n) + std::string(n, 'x');
  };
  auto packed = [](size_t n) {
    auto body = gzip(std::string(n, 'x'));
    return head_of(body.size(), "Content-Encoding: gzip\r\n") + body;
  };
  for (auto& make :
       {std::function<std::string(size_t)>{chunks}, {sized}, {packed}}) {
    for (size_t n : {limit, limit + 1}) {
      auto server = once(make(n));
      auto x = request(server);
      x.accept_gzip = true;
      x.limits.body_bytes_max = limit;
      EXPECT_EQ(end_of(x), n == limit ? ec::none : ec::limit_reached);
      EXPECT_LE(sink->received, limit);
      EXPECT_LE(sink->largest, 65'536u);
    }
  }
}

TEST_F(HttpClientLimitsTest, TheHeadIsBounded) {
  for (size_t n : {1'000u, 1'001u}) {
    auto head = head_of(0, "X: \r\n");
    head.insert(head.size() - 4, std::string(n - head.size(), 'x'));
    auto server = once(head);
    auto x = request(server);
    x.limits.head_bytes_max = 1'000;
    EXPECT_EQ(end_of(x), n == 1'000 ? ec::none : ec::limit_reached) << n;
  }
  auto endless = once("HTTP/1.1 200 OK\r\nX: " + std::string(100'000, 'x'));
  EXPECT_EQ(end_of(request(endless)), ec::limit_reached);
}

// hostile-inputs.md 2.1.27; ADR 7, 4: inflated bytes count.
TEST_F(HttpClientLimitsTest, AGzipBombStopsAtTheLimitInFlatMemory) {
  auto bomb = gzip(std::string(64 << 20, '\0'));
  ASSERT_LT(bomb.size(), 80'000u);
  auto server = once(head_of(bomb.size(), "Content-Encoding: gzip\r\n") + bomb);
  auto x = request(server);
  x.accept_gzip = true;
  EXPECT_EQ(end_of(x), ec::limit_reached);
  EXPECT_LE(sink->received, limits::http_response_bytes_default);
  EXPECT_LE(sink->largest, 65'536u);
}

TEST_F(HttpClientLimitsTest, EncodingsThatWereNotAskedForAreRefused) {
  auto body = gzip("hello");
  for (auto encoding : {"gzip", "br", "deflate", "x-gzip", "gzip, gzip"}) {
    auto server = once(head_of(body.size(), "Content-Encoding: "
                                              + std::string{encoding} + "\r\n")
                       + body);
    EXPECT_EQ(end_of(request(server)), ec::invalid_argument) << encoding;
    auto asked = request(server);
    asked.accept_gzip = true;
    EXPECT_EQ(end_of(asked), encoding == std::string_view{"gzip"}
                               ? ec::none
                               : ec::invalid_argument)
      << encoding;
  }
}

TEST_F(HttpClientLimitsTest, BodiesCutShortNeverPassForWhole) {
  auto packed = gzip(std::string(1'000, 'x'));
  auto half = packed.substr(0, packed.size() / 2);
  for (auto& wire :
       {head_of(10) + "12345",
        std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    "a\r\n0123456789\r\n"},
        head_of(half.size(), "Content-Encoding: gzip\r\n") + half}) {
    scripted_server server{[&wire](raw_peer& peer, size_t) {
      peer.read_until("\r\n\r\n");
      peer.send(wire);
    }};
    auto x = request(server);
    x.accept_gzip = true;
    EXPECT_EQ(end_of(x), ec::unreachable) << wire;
  }
  scripted_server resetting{[](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nto the end, but not in good order");
    peer.read_some(*std::make_unique<std::string>(), 50);
    peer.reset();
  }};
  EXPECT_EQ(end_of(request(resetting)), ec::unreachable);
}

TEST_F(HttpClientLimitsTest, WithoutCreditTheSocketIsNotRead) {
  constexpr size_t size = 64 << 20;
  std::atomic<size_t> sent = 0;
  scripted_server server{[&](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(head_of(size));
    std::string block(65'536, 'x');
    while (sent < size && peer.send(block))
      sent += block.size();
    peer.wait_for_end();
  }};
  auto x = request(server);
  x.limits.body_bytes_max = size;
  x.credit = 1'000;
  auto call = stream(x);
  expect_bytes(1'000);
  // The sender runs into TCP's back-pressure and stays there.
  for (size_t before = 1; before != sent;) {
    before = sent;
    EXPECT_FALSE(sink->pieces.pop(100ms));
  }
  EXPECT_LT(sent, size / 2);
  call->grant(500);
  expect_bytes(500);
  settle();
  EXPECT_EQ(sink->received, 1'500u);
  call->grant(UINT64_MAX);
  EXPECT_EQ(sink->ends.pop(), ec::none);
  EXPECT_EQ(sink->received, size);
}

TEST_F(HttpClientLimitsTest, InflatedBytesCostCreditToo) {
  auto body = gzip(std::string(1 << 20, 'x'));
  auto server = once(head_of(body.size(), "Content-Encoding: gzip\r\n") + body);
  auto x = request(server);
  x.accept_gzip = true;
  x.credit = 10;
  auto call = stream(x);
  expect_bytes(10);
  for (size_t left = (1 << 20) - 10; left > 0;) {
    settle();
    ASSERT_EQ(sink->pieces.size(), 0u);
    auto more = std::min<size_t>(100'000, left);
    call->grant(more);
    expect_bytes(more);
    left -= more;
  }
  call->grant(1);
  EXPECT_EQ(sink->ends.pop(), ec::none);
}

// hostile-inputs.md 2.1.21: every wait is limited.
TEST_F(HttpClientLimitsTest, SlowServersAreGivenUp) {
  scripted_server silent{[](raw_peer& peer, size_t) {
    peer.wait_for_end();
  }};
  auto x = request(silent);
  x.limits.first_byte = 40ms;
  EXPECT_EQ(end_of(x), ec::unreachable);
  auto half_head = once("HTTP/1.1 200 OK\r\n");
  x = request(half_head);
  x.limits.first_byte = 40ms;
  EXPECT_EQ(end_of(x), ec::unreachable);
  // 1 byte each 5 ms is 200 a second; 1,000 are required.
  scripted_server drip{[](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(head_of(1'000'000));
    std::string ignored;
    while (peer.send("x") && peer.read_some(ignored, 5) == outcome::timeout)
      continue;
  }};
  x = request(drip);
  x.limits.bytes_per_second_min = 1'000;
  x.limits.rate_window = 60ms;
  EXPECT_EQ(end_of(x), ec::unreachable);
  x = request(drip);
  x.limits.bytes_per_second_min = 1;
  x.limits.rate_window = 50ms;
  x.limits.total = 150ms;
  EXPECT_EQ(end_of(x), ec::unreachable);
  EXPECT_GT(sink->received, 5u);
}

TEST_F(HttpClientLimitsTest, TimeWithoutCreditIsNotSlowness) {
  auto server = once(head_of(200'000) + std::string(200'000, 'x'));
  auto x = request(server);
  x.credit = 1;
  x.limits.rate_window = 20ms;
  x.limits.bytes_per_second_min = 1'000;
  auto call = stream(x);
  ASSERT_TRUE(sink->pieces.pop());
  EXPECT_FALSE(sink->ends.pop(100ms));
  call->grant(UINT64_MAX);
  EXPECT_EQ(sink->ends.pop(), ec::none);
}

TEST_F(HttpClientLimitsTest, CancellingEndsACallOnceInEveryPhase) {
  inbox<outcome> seen;
  scripted_server server{[&](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(head_of(10) + "12345");
    seen.push(peer.wait_for_end());
  }};
  auto early = stream(request(server));
  early->cancel();
  EXPECT_EQ(sink->ends.pop(), ec::cancelled);
  auto late = stream(request(server));
  ASSERT_TRUE(sink->pieces.pop());
  late->cancel();
  late->cancel();
  EXPECT_EQ(sink->ends.pop(), ec::cancelled);
  EXPECT_TRUE(seen.pop());
  settle();
  EXPECT_EQ(sink->ends.size(), 0u);
}

TEST_F(HttpClientLimitsTest, ASinkMayRefuseTheAnswer) {
  auto server = once(head_of(3) + "abc");
  auto refusing = std::make_shared<recording_sink>();
  refusing->wanted = false;
  client->stream(request(server), refusing);
  EXPECT_EQ(refusing->ends.pop(), ec::cancelled);
  EXPECT_EQ(refusing->received, 0u);
}

TEST_F(HttpClientLimitsTest, TheEndOfTheClientCancelsItsCalls) {
  auto server = once(head_of(10));
  auto call = stream(request(server));
  ASSERT_TRUE(sink->heads.pop());
  client.reset();
  EXPECT_EQ(sink->ends.pop(), ec::cancelled);
  call->cancel();
  call->grant(1);
  settle();
}

// In the order in which they were made, wherever they are in memory: those of
// the second round reuse the memory of the first, the last one first.
TEST_F(HttpClientLimitsTest, TheEndOfTheClientCancelsItsCallsInOrder) {
  class numbered_sink final : public http_sink {
  public:
    numbered_sink(size_t number, inbox<size_t>& ends)
      : number_(number), ends_(ends) {
      // nop
    }

    bool on_head(const http_response_head&) override { return true; }
    void on_body(bytes_view) override {}
    void on_end(result<void>) override { ends_.push(number_); }

  private:
    size_t number_;
    inbox<size_t>& ends_;
  };

  constexpr size_t count = 6;
  scripted_server server{[](raw_peer& peer, size_t) { peer.wait_for_end(); }};
  inbox<size_t> ends;
  for (const auto cancels : {true, false}) {
    std::vector<http_call_ptr> calls;
    for (size_t i = 0; i < count; ++i)
      calls.push_back(client->stream(
        request(server), std::make_shared<numbered_sink>(i, ends)));
    settle();
    if (!cancels)
      client.reset();
    for (size_t i = 0; i < count; ++i) {
      if (cancels)
        calls[i]->cancel();
      EXPECT_EQ(ends.pop(), i);
    }
  }
}

} // namespace weir::net
