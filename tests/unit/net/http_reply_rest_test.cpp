#include "net/http_server.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"

namespace weir::net {

namespace {

using namespace std::chrono_literals;
using namespace tests;

/// "abc", letter by letter.
class letters final : public reply_rest {
public:
  explicit letters(bool sized) : sized_(sized) {
    // nop
  }

  std::optional<uint64_t> size() const override {
    return sized_ ? std::optional{uint64_t{3}} : std::nullopt;
  }

  piece next() override {
    if (next_ > 'c')
      return {};
    return {bytes{static_cast<uint8_t>(next_++)}, 1ms};
  }

private:
  const bool sized_;
  char next_ = 'a';
};

/// "/sized" gives the length of the answer.
class spelling_service final : public http_service {
public:
  void on_request(incoming_request request, responder answer) override {
    auto reply = json_reply(200, "01");
    reply.rest = std::make_shared<letters>(request.path == "/sized");
    answer.send(std::move(reply));
  }
};

class HttpReplyRestTest : public NetFixture {};

} // namespace

TEST_F(HttpReplyRestTest, ItIsMadeWhileItGoesOut) {
  http_server_options options;
  options.at.address = ip_address::loopback_v4();
  const auto server
    = make_http_server(network, std::make_shared<spelling_service>(), options);
  ASSERT_TRUE(server);
  auto peer = raw_peer::dial((*server)->local().port);
  peer.send("GET /sized HTTP/1.1\r\nHost: a\r\n\r\n");
  auto answer = peer.read_until("\r\n\r\n01abc");
  EXPECT_NE(answer.find("Content-Length: 5\r\n"), answer.npos);
  // The connection stays open with a size; without a size it ends with the
  // answer.
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  answer = peer.read_all();
  EXPECT_EQ(answer.find("Content-Length"), answer.npos);
  EXPECT_TRUE(answer.ends_with("\r\n\r\n01abc")) << answer;
}

} // namespace weir::net
