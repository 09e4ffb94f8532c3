#include "net/http_server.hpp"
#include "net/limits.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_raw_peer.hpp"

#include <thread>

namespace weir::net {

namespace {

using namespace tests;
using outcome = raw_peer::outcome;

/// Keeps every request and its responder for the test.
class recording_service final : public http_service {
public:
  struct turn {
    incoming_request request;
    responder answer;
  };

  size_t body_bytes_max(std::string_view, std::string_view path) override {
    return path == "/small" ? 10 : http_service::body_bytes_max({}, {});
  }

  std::optional<http_reply> on_head(incoming_request& head) override {
    using reply = std::optional<http_reply>;
    return head.path != "/closed" ? reply{} : error_reply(401, "No", "No.");
  }

  void on_request(incoming_request request, responder answer) override {
    turns.push({std::move(request), std::move(answer)});
  }

  inbox<turn> turns;
};

class HttpServerTest : public NetFixture {
protected:
  void serve(http_server_options options = {}) {
    options.at.address = ip_address::loopback_v4();
    auto made = make_http_server(network, service, options);
    ASSERT_TRUE(made);
    server = std::move(*made);
  }

  raw_peer dial(const char* source = nullptr) {
    return raw_peer::dial(server->local().port, source);
  }

  /// Sends `wire` and answers its request with 200 and `body`.
  recording_service::turn take(std::string_view body = "ok") {
    auto turn = service->turns.pop();
    EXPECT_TRUE(turn) << "no request came";
    if (!turn)
      return {{}, responder{nullptr}};
    turn->answer.send(json_reply(200, body));
    return std::move(*turn);
  }

  /// The answer to a request that the server must refuse by itself.
  std::string refused(std::string_view wire) {
    auto peer = dial();
    peer.send(wire);
    auto answer = peer.read_all();
    EXPECT_EQ(service->turns.size(), 0u) << wire;
    return answer;
  }

  /// Waits for the number of open connections.
  void expect_connections(size_t n) {
    auto until = std::chrono::steady_clock::now() + patience;
    while (server->connections() != n
           && std::chrono::steady_clock::now() < until)
      settle();
    EXPECT_EQ(server->connections(), n);
  }

  std::shared_ptr<recording_service> service
    = std::make_shared<recording_service>();
  std::shared_ptr<http_server> server;
};

constexpr std::string_view get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

} // namespace

TEST_F(HttpServerTest, RequestsArriveDecodedAndAnswersGoBack) {
  serve();
  auto peer = dial();
  peer.send("POST /a%2Fb%252F?did=did%3Aplc%3Ax&q=a+b&flag HTTP/1.1\r\n"
            "Host: a\r\nX-Custom: Value\r\nContent-Length: 4\r\n\r\nbody");
  auto turn = take("{\"x\":1}");
  EXPECT_EQ(turn.request.method, "POST");
  EXPECT_EQ(turn.request.path, "/a/b%2F");
  ASSERT_TRUE(turn.request.parameter("did"));
  EXPECT_EQ(*turn.request.parameter("did"), "did:plc:x");
  EXPECT_EQ(*turn.request.parameter("q"), "a b");
  EXPECT_EQ(*turn.request.parameter("flag"), "");
  EXPECT_FALSE(turn.request.parameter("absent"));
  EXPECT_EQ(*turn.request.header("x-custom"), "Value");
  EXPECT_EQ(turn.request.body, "body");
  EXPECT_EQ(turn.request.peer, ip_address::loopback_v4());
  EXPECT_EQ(peer.read_until("\r\n\r\n"),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
            "Content-Length: 7\r\n\r\n");
  EXPECT_EQ(peer.read_exactly(7), "{\"x\":1}");
}

TEST_F(HttpServerTest, OneConnectionServesManyRequestsAlsoPipelined) {
  serve();
  auto peer = dial();
  std::string three;
  for (int i = 0; i < 3; ++i)
    three += get;
  peer.send(three);
  for (auto body : {"one", "two", "three"}) {
    take(body);
    EXPECT_NE(peer.read_until("\r\n\r\n"), "");
    EXPECT_EQ(peer.read_exactly(strlen(body)), body);
  }
  peer.send(get);
  take("four");
  EXPECT_NE(peer.read_until("four"), "");
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(HttpServerTest, AnAnswerMayComeLaterAndFromAnyThread) {
  serve();
  auto peer = dial();
  peer.send(get);
  auto turn = service->turns.pop();
  ASSERT_TRUE(turn);
  auto copy = turn->answer;
  std::thread{[&copy] {
    copy.send(json_reply(202, "late"));
  }}.join();
  copy.send(json_reply(500, "never seen"));
  EXPECT_NE(peer.read_until("late").find("202 Accepted"), std::string::npos);
  peer.send(get);
  take("next");
  EXPECT_NE(peer.read_until("next").find("200 OK"), std::string::npos);
}

TEST_F(HttpServerTest, ARequestThatIsForgottenIsAnswered500) {
  serve();
  auto peer = dial();
  peer.send(get);
  service->turns.pop();
  EXPECT_EQ(peer.read_until("\r\n"), "HTTP/1.1 500 Internal Server Error\r\n");
}

TEST_F(HttpServerTest, HeadIsAnsweredWithoutBody) {
  serve();
  auto peer = dial();
  peer.send("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(take("12345").request.method, "HEAD");
  EXPECT_NE(peer.read_until("\r\n\r\n").find("Content-Length: 5\r\n"),
            std::string::npos);
  peer.send(get);
  take("next");
  EXPECT_EQ(peer.read_until("HTTP/1.1"), "HTTP/1.1");
}

TEST_F(HttpServerTest, ConnectionCloseAndHttp10EndTheConnection) {
  serve();
  for (auto wire :
       {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n"}) {
    auto peer = dial();
    peer.send(wire);
    take("last");
    auto answer = peer.read_all();
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
    EXPECT_TRUE(answer.ends_with("last"));
  }
}

TEST_F(HttpServerTest, ChunkedBodiesAreTaken) {
  serve();
  auto peer = dial();
  peer.send("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
            "4\r\nbo");
  peer.send("dy\r\n2;x\r\n!!\r\n0\r\n\r\n");
  EXPECT_EQ(take().request.body, "body!!");
}

TEST_F(HttpServerTest, AClientThatExpectsIsToldToContinue) {
  serve();
  auto peer = dial();
  peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
            "Expect: 100-continue\r\n\r\n");
  EXPECT_EQ(peer.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("hi");
  EXPECT_EQ(take().request.body, "hi");
  EXPECT_NE(peer.read_until("ok"), "");
  auto answer = refused("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n"
                        "Expect: miracles\r\n\r\n");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 417 "));
}

// hostile-inputs.md 2.2.5; the table of heads is in http_head_test.cpp. This
// shows the client's view.
TEST_F(HttpServerTest, BrokenFramingIsAnswered400AndClosed) {
  serve();
  for (auto wire :
       {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"
        "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\nHost: a\n\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /%00 HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET /?a=%f HTTP/1.1\r\nHost: a\r\n\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "\x16\x03\x01"}) {
    auto answer = refused(wire);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 Bad Request\r\n")) << wire;
    EXPECT_NE(answer.find("{\"error\":\"InvalidRequest\",\"message\":\""),
              std::string::npos);
    EXPECT_NE(answer.find("Connection: close\r\n"), std::string::npos);
  }
}

TEST_F(HttpServerTest, HeadsAboveTheLimitAreAnswered431) {
  serve();
  auto max = limits::http_request_head_bytes_max;
  std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
  auto head = [&](size_t size) {
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  auto peer = dial();
  peer.send(head(max));
  take();
  EXPECT_NE(peer.read_until("ok").find("200 OK"), std::string::npos);
  auto answer = refused(head(max + 1));
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 "));
  EXPECT_NE(answer.find("\"HeaderTooLarge\""), std::string::npos);
}

TEST_F(HttpServerTest, BodiesAboveTheLimitOfTheirRouteAreAnswered413) {
  serve();
  auto post = [](std::string_view path, size_t n) {
    return "POST " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n"
           + "Content-Length: " + std::to_string(n) + "\r\n\r\n";
  };
  auto max = limits::http_request_body_bytes_default;
  auto peer = dial();
  peer.send(post("/small", 10) + std::string(10, 'x') + post("/", max)
            + std::string(max, 'y'));
  EXPECT_EQ(take().request.body.size(), 10u);
  EXPECT_EQ(take().request.body.size(), max);
  for (auto& wire :
       {post("/small", 11), post("/", max + 1),
        // The body is sent, too: the refusal must not be lost in a reset.
        post("/", max + 1) + std::string(max + 1, 'y'),
        std::string{"POST /small HTTP/1.1\r\nHost: a\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n"
                    "a\r\n0123456789\r\n1\r\nx\r\n0\r\n\r\n"},
        // A size whose bytes will never come.
        std::string{"POST /small HTTP/1.1\r\nHost: a\r\n"
                    "Transfer-Encoding: chunked\r\n\r\n"
                    "ffffffffffffffff\r\nxx"}}) {
    auto answer = refused(wire);
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 "));
    EXPECT_NE(answer.find("\"PayloadTooLarge\""), std::string::npos);
  }
  peer.send("POST /small HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
            "\r\na\r\n0123456789\r\n0\r\n\r\n");
  EXPECT_EQ(take().request.body, "0123456789");
}

// hostile-inputs.md 2.2.9: header 10 s, body 30 s, idle 60 s; shorter here, so
// that the test is fast.
// hostile-inputs.md 2.2.9: strangers' bodies are not read.
TEST_F(HttpServerTest, ARefusalOfTheHeadComesBeforeTheBody) {
  serve();
  auto peer = dial();
  peer.send("POST /closed HTTP/1.1\r\nHost: a\r\n"
            "Content-Length: 1000000\r\n\r\n");
  EXPECT_TRUE(peer.read_all().starts_with("HTTP/1.1 401"));
}

TEST_F(HttpServerTest, SlowAndSilentClientsAreCut) {
  http_server_options options;
  options.head_timeout = 50ms;
  options.body_timeout = 60ms;
  options.idle_timeout = 70ms;
  serve(options);
  EXPECT_EQ(dial().read_all(), "");
  for (auto part :
       {"GET / HTTP/1.1\r\n",
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nx"}) {
    auto slow = dial();
    slow.send(part);
    EXPECT_TRUE(slow.read_all().starts_with("HTTP/1.1 408 "));
  }
  auto idle = dial();
  idle.send(get);
  take();
  EXPECT_TRUE(idle.read_all().ends_with("ok"));
  expect_connections(0);
}

TEST_F(HttpServerTest, AnAnswerThatIsNotTakenCutsTheConnection) {
  http_server_options options;
  options.idle_timeout = 100ms;
  serve(options);
  auto peer = raw_peer::dial(server->local().port, nullptr, 4'096);
  peer.send(get);
  take(std::string(32 << 20, 'x'));
  expect_connections(0);
}

TEST_F(HttpServerTest, RepliesCannotBeSplitByTheirHeaders) {
  serve();
  auto peer = dial();
  peer.send(get);
  auto turn = service->turns.pop();
  ASSERT_TRUE(turn);
  auto reply = json_reply(200, "x");
  reply.headers.push_back({"X-Bad", "a\r\nSet-Cookie: b"});
  turn->answer.send(reply);
  auto answer = peer.read_until("}");
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 "));
  EXPECT_EQ(answer.find("Set-Cookie"), std::string::npos);
}

TEST_F(HttpServerTest, ErrorsAreJsonWhateverTheirText) {
  auto reply = error_reply(400, "Bad", "a \"b\" \\ \n \x01 \xc3\xa9");
  EXPECT_EQ(as_text(reply.body.view()),
            "{\"error\":\"Bad\",\"message\":"
            "\"a \\\"b\\\" \\\\ \\u000a \\u0001 \xc3\xa9\"}");
  EXPECT_EQ(as_text(error_reply(400, "Bad", "\xff").body.view()),
            "{\"error\":\"Bad\",\"message\":\"?\"}");
}

TEST_F(HttpServerTest, SimulatedFaultsCutTheBodyOrTheConnection) {
  serve();
  auto peer = dial();
  peer.send(get);
  auto turn = service->turns.pop();
  ASSERT_TRUE(turn);
  auto reply = json_reply(200, "0123456789");
  reply.cut_after_bytes = 4;
  turn->answer.send(reply);
  auto answer = peer.read_all();
  EXPECT_TRUE(answer.ends_with("\r\n\r\n0123"));
  auto other = dial();
  other.send(get);
  turn = service->turns.pop();
  ASSERT_TRUE(turn);
  turn->answer.cut();
  EXPECT_EQ(other.read_all(), "");
}

TEST_F(HttpServerTest, TheEndOfTheServerCutsItsConnections) {
  serve();
  auto waiting = dial();
  waiting.send(get);
  auto turn = service->turns.pop();
  ASSERT_TRUE(turn);
  auto port = server->local().port;
  server->stop_listening();
  server.reset();
  EXPECT_EQ(waiting.read_all(), "");
  turn->answer.send(json_reply(200, "too late"));
  settle();
  http_server_options again;
  again.at.port = port;
  serve(again);
  EXPECT_EQ(server->connections(), 0u);
}

TEST_F(HttpServerTest, APortInUseIsAnError) {
  serve();
  http_server_options taken;
  taken.at = server->local();
  auto second = make_http_server(network, service, taken);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ec::unreachable);
}

} // namespace weir::net
