#include "net/http_server.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"

// hostile-inputs.md 2.2.6: a body goes to the service's sink as it comes. What
// the sink keeps is released with the request.
namespace weir::tests {
namespace {

using namespace weir::net;

/// Reports its pieces; takes a limited number of bytes.
class counting_sink final : public body_sink {
public:
  counting_sink(inbox<std::string>& pieces, std::shared_ptr<int> token)
    : pieces_(pieces), token_(std::move(token)) {
    // nop
  }

  std::optional<http_reply> put(bytes_view piece) override {
    pieces_.push(std::string{as_text(piece)});
    left_ -= std::min(left_, piece.size());
    return left_ > 0 ? std::optional<http_reply>{}
                     : error_reply(503, "Full", "No more.");
  }

private:
  inbox<std::string>& pieces_;
  std::shared_ptr<int> token_;
  size_t left_ = 9;
};

class sink_service final : public http_service {
public:
  size_t body_bytes_max(std::string_view, std::string_view) override {
    return 10;
  }

  std::optional<http_reply> on_head(incoming_request& head) override {
    head.sink = std::make_shared<counting_sink>(pieces, token);
    return std::nullopt;
  }

  void on_request(incoming_request request, responder answer) override {
    EXPECT_EQ(request.body, "");
    EXPECT_TRUE(request.sink);
    request = {};
    done.push(token.use_count());
    answer.send(json_reply(200, "ok"));
  }

  inbox<std::string> pieces;
  inbox<long> done;
  std::shared_ptr<int> token = std::make_shared<int>();
};

class RequestClaimTest : public NetFixture {
protected:
  RequestClaimTest() {
    http_server_options options;
    options.at.address = ip_address::loopback_v4();
    server = *make_http_server(network, service, options);
  }

  raw_peer send(std::string_view more) const {
    auto out = raw_peer::dial(server->local().port);
    out.send("POST /a HTTP/1.1\r\nHost: a\r\n" + std::string{more});
    return out;
  }

  bool let_go() {
    for (size_t i = 0; i < 100 && service->token.use_count() > 1; ++i)
      settle();
    return service->token.use_count() == 1;
  }

  std::shared_ptr<sink_service> service = std::make_shared<sink_service>();
  std::shared_ptr<http_server> server;
};

} // namespace

TEST_F(RequestClaimTest, ItEndsWithTheRequest) {
  const auto peer = send("Content-Length: 3\r\n\r\nabc");
  EXPECT_EQ(service->pieces.pop(), "abc");
  EXPECT_EQ(service->done.pop(), 1);
}

TEST_F(RequestClaimTest, ABodyComesInThePiecesThatArrive) {
  auto peer = send("Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  EXPECT_EQ(service->pieces.pop(), "abc");
  peer.send("2\r\nde\r\n0\r\n\r\n");
  EXPECT_EQ(service->pieces.pop(), "de");
  EXPECT_EQ(service->done.pop(), 1);
}

TEST_F(RequestClaimTest, ABodyAboveTheLimitOfItsRouteIsNotTaken) {
  auto peer = send("Transfer-Encoding: chunked\r\n\r\n");
  peer.send("b\r\n0123456789a\r\n");
  EXPECT_TRUE(peer.read_until("\r\n").starts_with("HTTP/1.1 413"));
  EXPECT_TRUE(let_go()) << "it is not read";
}

TEST_F(RequestClaimTest, WhatTakesTheBodyMayRefuseTheRest) {
  auto peer = send("Content-Length: 10\r\n\r\n012345678");
  EXPECT_TRUE(peer.read_until("\r\n").starts_with("HTTP/1.1 503"));
  EXPECT_TRUE(let_go());
}

TEST_F(RequestClaimTest, ItEndsWithTheConnection) {
  auto peer = send("Content-Length: 3\r\n\r\na");
  EXPECT_EQ(service->pieces.pop(), "a");
  EXPECT_GT(service->token.use_count(), 1);
  server.reset();
  EXPECT_TRUE(let_go());
}

} // namespace weir::tests
