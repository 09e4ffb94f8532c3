#include "net/http_server.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"

// reliability.md P9: what a body may cost is known before it is read, and let
// go of with its request.
namespace weir::tests {
namespace {

using namespace weir::net;

/// Attaches a token to each head.
class claiming_service final : public http_service {
public:
  size_t body_bytes_max(std::string_view, std::string_view) override {
    return 10;
  }

  std::optional<http_reply> on_head(incoming_request& head,
                                    size_t body_bytes) override {
    head.attached = token;
    asked.push(body_bytes);
    return std::nullopt;
  }

  void on_request(incoming_request request, responder answer) override {
    EXPECT_EQ(request.attached, token);
    request = {};
    done.push(token.use_count());
    answer.send(json_reply(200, "ok"));
  }

  inbox<size_t> asked;
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

  std::shared_ptr<claiming_service> service
    = std::make_shared<claiming_service>();
  std::shared_ptr<http_server> server;
};

} // namespace

TEST_F(RequestClaimTest, ItEndsWithTheRequest) {
  const auto peer = send("Content-Length: 3\r\n\r\nabc");
  EXPECT_EQ(service->asked.pop(), 3u);
  EXPECT_EQ(service->done.pop(), 1);
}

TEST_F(RequestClaimTest, ABodyOfUnknownSizeMayBeAsLargeAsItsRouteTakes) {
  auto peer = send("Transfer-Encoding: chunked\r\n\r\n");
  EXPECT_EQ(service->asked.pop(), 10u);
  peer.send("b\r\n0123456789a\r\n");
  EXPECT_TRUE(peer.read_until("\r\n").starts_with("HTTP/1.1 413"));
  EXPECT_TRUE(let_go()) << "it is not read";
}

TEST_F(RequestClaimTest, ItEndsWithTheConnection) {
  auto peer = send("Content-Length: 3\r\n\r\na");
  EXPECT_EQ(service->asked.pop(), 3u);
  EXPECT_GT(service->token.use_count(), 1);
  server.reset();
  EXPECT_TRUE(let_go());
}

} // namespace weir::tests
