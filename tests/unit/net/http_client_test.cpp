#include "net/http_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"

namespace weir::net {

namespace {

using namespace tests;

/// Answers each request of a connection by a rule of the test.
using rule_type = std::function<std::string(std::string_view target)>;

/// Reads requests and answers them until the rule returns "", then closes.
scripted_server serve(rule_type rule) {
  return scripted_server{[rule = std::move(rule)](raw_peer& peer, size_t) {
    for (;;) {
      auto head = peer.read_until("\r\n\r\n");
      if (head.empty())
        return;
      auto from = head.find(' ') + 1;
      auto target = head.substr(from, head.find(' ', from) - from);
      auto answer = rule(target);
      if (answer.empty() || !peer.send(answer))
        return;
    }
  }};
}

std::string ok(std::string_view body, std::string_view lines = "") {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size())
         + "\r\n" + std::string{lines} + "\r\n" + std::string{body};
}

std::string redirect(std::string_view location) {
  return "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
         + std::string{location} + "\r\n\r\n";
}

class HttpClientTest : public NetFixture {
protected:
  void open(http_client_options options = {}) {
    options.guard = address_guard{true};
    client = make_http_client(network, options);
  }

  void SetUp() override { open(); }

  static http_request request(std::string_view where) {
    http_request x;
    auto parsed = parse_url(where);
    EXPECT_TRUE(parsed) << where;
    if (parsed)
      x.target = *parsed;
    return x;
  }

  using answer = std::optional<result<http_response>>;

  answer get(http_request x) {
    client->get(std::move(x), [this](result<http_response> got) {
      answers.push(std::move(got));
    });
    auto got = answers.pop();
    EXPECT_TRUE(got) << "no answer came";
    return got ? got : answer{fail(ec::cancelled, "no answer came")};
  }

  answer get(std::string_view where) { return get(request(where)); }

  /// The error of a call that must fail.
  ec failure(http_request x) {
    auto got = get(std::move(x));
    return *got ? ec::none : got->error().code;
  }

  inbox<result<http_response>> answers;
  http_client_ptr client;
};

} // namespace

TEST_F(HttpClientTest, AnswersComeWithStatusHeadersAndBody) {
  std::string head;
  scripted_server server{[&](raw_peer& peer, size_t) {
    head = peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 404 Not Found\r\nContent-Type: a/b\r\n"
              "Content-Length: 4\r\n\r\ngone");
  }};
  auto asked = request(server.origin() + "/x?y");
  asked.headers.push_back({"Authorization", "Basic x"});
  auto got = *get(asked);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 404);
  EXPECT_EQ(*find_header(got->headers, "content-type"), "a/b");
  EXPECT_EQ(as_text(got->body), "gone");
  EXPECT_EQ(to_string(got->from), server.origin() + "/x?y");
  EXPECT_EQ(head, "GET /x?y HTTP/1.1\r\nHost: 127.0.0.1:"
                    + std::to_string(server.port())
                    + "\r\nUser-Agent: weir\r\nAccept-Encoding: identity\r\n"
                      "Authorization: Basic x\r\n\r\n");
}

TEST_F(HttpClientTest, BodiesOfAllFramingsAreRead) {
  auto server = serve([](std::string_view target) -> std::string {
    if (target == "/chunked")
      return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
             "5\r\nhello\r\n0\r\n\r\n";
    if (target == "/interim")
      return "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok("hello");
    return ok("hello");
  });
  for (auto path : {"/sized", "/chunked", "/interim"}) {
    auto got = *get(server.origin() + path);
    ASSERT_TRUE(got) << path;
    EXPECT_EQ(as_text(got->body), "hello") << path;
  }
  EXPECT_EQ(server.accepted(), 1u);
  scripted_server to_end{[](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nto the end");
  }};
  auto got = *get(to_end.origin());
  ASSERT_TRUE(got);
  EXPECT_EQ(as_text(got->body), "to the end");
}

TEST_F(HttpClientTest, PostSendsItsBodyAndHeadReadsNone) {
  std::string wire;
  scripted_server server{[&](raw_peer& peer, size_t) {
    wire = peer.read_until("{}");
    peer.send(ok(""));
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n");
  }};
  auto post = request(server.origin());
  post.method = "POST";
  post.body = "{}";
  ASSERT_TRUE(*get(post));
  EXPECT_NE(wire.find("Content-Length: 2\r\n\r\n{}"), std::string::npos);
  auto head = request(server.origin());
  head.method = "HEAD";
  auto got = *get(head);
  ASSERT_TRUE(got);
  EXPECT_TRUE(got->body.empty());
  EXPECT_EQ(server.accepted(), 1u);
}

TEST_F(HttpClientTest, HintsToWaitAreRead) {
  auto server = serve([](std::string_view) {
    return "HTTP/1.1 429 Too Many\r\nContent-Length: 0\r\nRetry-After: 7\r\n"
           "RateLimit-Reset: 9\r\n\r\n";
  });
  auto got = *get(server.origin());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 429);
  EXPECT_EQ(got->retry_after, 7s);
  EXPECT_EQ(got->rate_limit_reset, 9s);
}

TEST_F(HttpClientTest, ConnectionsAreKeptAndUsedAgain) {
  auto server = serve([](std::string_view target) {
    return ok("x", target == "/close" ? "Connection: close\r\n" : "");
  });
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(*get(server.origin()));
  EXPECT_EQ(server.accepted(), 1u);
  EXPECT_TRUE(*get(server.origin() + "/close"));
  EXPECT_EQ(server.accepted(), 1u);
  EXPECT_TRUE(*get(server.origin()));
  EXPECT_EQ(server.accepted(), 2u);
}

TEST_F(HttpClientTest, AKeptConnectionThatDiedIsReplacedOnce) {
  std::atomic<bool> dying = true;
  auto server = serve([&](std::string_view) {
    return ok("x");
  });
  scripted_server flaky{[&](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(ok("x"));
    if (!dying)
      peer.read_until("\r\n\r\n");
    peer.close();
  }};
  EXPECT_TRUE(*get(flaky.origin()));
  EXPECT_TRUE(*get(flaky.origin()));
  EXPECT_EQ(flaky.accepted(), 2u);
  // A connection that never had an answer is not tried again.
  scripted_server dead{[](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
  }};
  EXPECT_EQ(failure(request(dead.origin())), ec::unreachable);
  EXPECT_EQ(dead.accepted(), 1u);
}

TEST_F(HttpClientTest, IdleConnectionsAreClosedAfterTheirTime) {
  http_client_options options;
  options.idle_timeout = 30ms;
  open(options);
  inbox<raw_peer::outcome> ends;
  scripted_server server{[&](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send(ok("x"));
    ends.push(peer.wait_for_end());
  }};
  EXPECT_TRUE(*get(server.origin()));
  EXPECT_EQ(ends.pop(), raw_peer::outcome::end);
}

TEST_F(HttpClientTest, ConnectionsPerOriginAreBoundedAndCallsWaitInTurn) {
  http_client_options options;
  options.connections_per_origin_max = 2;
  options.waiting_calls_max = 3;
  open(options);
  inbox<bool> arrived;
  inbox<bool> may_answer;
  std::atomic<int> at_once = 0;
  std::atomic<int> most = 0;
  auto server = serve([&](std::string_view) {
    most = std::max(most.load(), ++at_once);
    arrived.push(true);
    may_answer.pop();
    --at_once;
    return ok("x");
  });
  for (int i = 0; i < 6; ++i)
    client->get(request(server.origin()), [this](result<http_response> x) {
      answers.push(std::move(x));
    });
  auto refused = answers.pop();
  ASSERT_TRUE(refused && !*refused);
  EXPECT_EQ(refused->error().code, ec::limit_reached);
  EXPECT_TRUE(arrived.pop() && arrived.pop());
  for (int i = 0; i < 5; ++i)
    may_answer.push(true);
  for (int i = 0; i < 5; ++i) {
    auto got = answers.pop();
    ASSERT_TRUE(got);
    EXPECT_TRUE(*got);
  }
  EXPECT_EQ(most, 2);
  EXPECT_EQ(server.accepted(), 2u);
}

// hostile-inputs.md 2.1.23: 3 hops, each through the guard.
// protocol-coverage.md 8.2
TEST_F(HttpClientTest, ThreeRedirectsAreFollowedAFourthIsNot) {
  auto server = serve([](std::string_view target) {
    auto n = target.back() - '0';
    return n == 0 ? ok("end") : redirect("/" + std::to_string(n - 1));
  });
  auto got = *get(server.origin() + "/3");
  ASSERT_TRUE(got);
  EXPECT_EQ(as_text(got->body), "end");
  EXPECT_EQ(got->from.target, "/0");
  EXPECT_EQ(failure(request(server.origin() + "/4")), ec::invalid_argument);
  auto none = request(server.origin() + "/1");
  none.redirects_max = 0;
  EXPECT_EQ(failure(none), ec::invalid_argument);
}

TEST_F(HttpClientTest, LoopsAndForeignSchemesAreNotFollowed) {
  for (auto location : {"/", "file:///etc/passwd", "gopher://a/", "ws://a/",
                        "http://user@a.com/", "http://", "ht tp"}) {
    auto server = serve([location](std::string_view) {
      return redirect(location);
    });
    EXPECT_EQ(failure(request(server.origin())), ec::invalid_argument)
      << location;
  }
}

TEST_F(HttpClientTest, CredentialsStayWithTheirOrigin) {
  inbox<std::string> heads;
  scripted_server other{[&](raw_peer& peer, size_t) {
    heads.push(peer.read_until("\r\n\r\n"));
    peer.send(ok("x"));
  }};
  auto server = serve([&](std::string_view) {
    return redirect(other.origin());
  });
  auto asked = request(server.origin());
  asked.headers = {{"authorization", "secret"}, {"X-Kept", "yes"}};
  EXPECT_TRUE(*get(asked));
  auto head = heads.pop();
  ASSERT_TRUE(head);
  EXPECT_EQ(head->find("secret"), std::string::npos);
  EXPECT_NE(head->find("X-Kept: yes"), std::string::npos);
}

// hostile-inputs.md 2.1.23: a configured server must not redirect to private
// addresses.
TEST_F(HttpClientTest, RedirectsMayBeKeptToTheirOrigin) {
  scripted_server other{[](raw_peer& peer, size_t) { peer.send(ok("x")); }};
  auto server = serve([&](std::string_view target) {
    if (target == "/here")
      return ok("here");
    return redirect(target == "/stay" ? "/here" : other.origin());
  });
  http_client_options options;
  options.guard = address_guard{true};
  options.foreign_redirects = false;
  const auto strict = make_http_client(network, options);
  inbox<result<http_response>> done;
  for (const auto* path : {"/stay", "/leave"})
    strict->get(request(server.origin() + path), [&done](auto x) {
      done.push(std::move(x));
    });
  size_t good = 0;
  for (int i = 0; i < 2; ++i) {
    const auto got = done.pop();
    ASSERT_TRUE(got);
    if (*got)
      ++good;
    else
      EXPECT_EQ(got->error().code, ec::invalid_argument);
  }
  EXPECT_EQ(good, 1u);
  EXPECT_EQ(other.accepted(), 0u);
}

TEST_F(HttpClientTest, APostIsNeverRedirected) {
  auto server = serve([](std::string_view) {
    return redirect("/x");
  });
  auto post = request(server.origin());
  post.method = "POST";
  auto got = *get(post);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->status, 302);
}

TEST_F(HttpClientTest, BrokenAnswersAreRefused) {
  for (std::string_view wire :
       {"HTTP/1.1 101 Switching\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n",
        "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"
        "Transfer-Encoding: chunked\r\n\r\n"}) {
    auto server = serve([wire](std::string_view) {
      return std::string{wire};
    });
    EXPECT_EQ(failure(request(server.origin())), ec::malformed) << wire;
  }
}

TEST_F(HttpClientTest, InformationalAnswersAreBounded) {
  auto server = serve([](std::string_view target) {
    std::string interims;
    for (auto n = target.back() - '0'; n > 0; --n)
      interims += "HTTP/1.1 100 Continue\r\n\r\n";
    return interims + ok("x");
  });
  EXPECT_TRUE(*get(server.origin() + "/8"));
  EXPECT_EQ(failure(request(server.origin() + "/9")), ec::malformed);
}

TEST_F(HttpClientTest, BadRequestsNeverReachTheNetwork) {
  auto server = serve([](std::string_view) {
    return ok("x");
  });
  for (http_header bad : {http_header{"X", "a\r\nY: b"},
                          {"X Y", "a"},
                          {"Host", "b"},
                          {"Content-Length", "5"},
                          {"Transfer-Encoding", "chunked"},
                          {"", "x"}}) {
    auto x = request(server.origin());
    x.headers.push_back(bad);
    EXPECT_EQ(failure(x), ec::invalid_argument) << bad.name;
  }
  auto x = request(server.origin());
  x.method = "GE T";
  EXPECT_EQ(failure(x), ec::invalid_argument);
  x = request("ws://127.0.0.1:1/");
  EXPECT_EQ(failure(x), ec::invalid_argument);
  EXPECT_EQ(server.accepted(), 0u);
}

} // namespace weir::net
