#include "actors/api/limits.hpp"
#include "actors/api/routes.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/api_node.hpp"

namespace weir::tests {

namespace {

using actors::all_routes;
using actors::port;
using actors::route;

constexpr const char* some_did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz";
constexpr const char* wrong = "Basic YWRtaW46d3Jvbmc="; // admin:wrong

std::string path_of(const route& x) {
  std::string out{x.pattern};
  if (const auto at = out.find(":did"); at != std::string::npos)
    out.replace(at, 4, some_did);
  return out;
}

plain_request request_for(const route& x) {
  auto out = x.upgrade ? api_node::upgrade(path_of(x)) : plain_request{};
  out.method = x.method;
  out.path = path_of(x);
  if (out.method == "POST") {
    out.headers["Content-Type"] = "application/json";
    out.body = x.pattern.starts_with("/repos/") ? R"({"dids":[]})"
                                                : R"({"all":true})";
  }
  return out;
}

/// A separate source address for each test, because wrong passwords are counted
/// by address.
std::string source(size_t i) {
  return "127.0.1." + std::to_string(i + 1);
}

uint16_t port_of(const api_node& node, const route& x) {
  return x.on == port::data ? node.data : node.operations;
}

} // namespace

// hostile-inputs.md 2.2.1: one credential check in front of every route
TEST(ApiAccessTest, EveryRouteAsksForTheCredentialAndTakesOnlyTheRightOne) {
  const api_node node{true, {"--plc-url", "http://127.0.0.1:9",
                             "--allow-private-addresses"}};
  ASSERT_GE(all_routes().size(), 20u);
  size_t i = 0;
  for (const auto& x : all_routes()) {
    const auto from = source(i++);
    auto request = request_for(x);
    // Set by a proxy on this machine.
    request.headers["X-Forwarded-For"] = "192.0.2.1";
    const auto none = node.ask(port_of(node, x), request, from.c_str());
    EXPECT_EQ(none.status, 401) << x.pattern;
    EXPECT_NE(none.head.find("WWW-Authenticate: Basic"), std::string::npos);
    request.headers["Authorization"] = wrong;
    EXPECT_EQ(node.ask(port_of(node, x), request, from.c_str()).status, 401)
      << x.pattern;
    request.headers["Authorization"] = api_node::credential;
    const auto right = node.ask(port_of(node, x), request, from.c_str());
    EXPECT_NE(right.status, 401) << x.pattern;
    EXPECT_NE(right.status, 0) << x.pattern;
    EXPECT_NE(right.status, 500) << x.pattern << " " << right.body;
  }
}

// Monitoring must not need a password.
TEST(ApiAccessTest, ProbesOfThisMachineNeedNoPassword) {
  const auto ask = [](const api_node& node, const char* path, bool by_proxy) {
    plain_request request;
    request.path = path;
    if (by_proxy)
      request.headers["X-Forwarded-For"] = "192.0.2.1";
    return node.ask(node.operations, request).status;
  };
  const api_node node{true};
  EXPECT_EQ(ask(node, "/livez", false), 200);
  EXPECT_NE(ask(node, "/readyz", false), 401);
  EXPECT_EQ(ask(node, "/livez", true), 401);
  EXPECT_EQ(ask(node, "/readyz", true), 401);
  EXPECT_EQ(ask(node, "/status", false), 401);
  EXPECT_EQ(ask(node, "/metrics", false), 401);
  plain_request data;
  data.path = "/livez";
  EXPECT_EQ(node.ask(node.data, data).status, 404) << "no secret is there";
  const api_node open{true, {"--open-probes"}};
  EXPECT_EQ(ask(open, "/livez", true), 200);
  EXPECT_NE(ask(open, "/readyz", true), 401);
  EXPECT_EQ(ask(open, "/status", true), 401);
}

TEST(ApiAccessTest, UnknownPathsDoNotSayThatTheyAreUnknown) {
  const api_node node{true};
  plain_request request;
  request.path = "/no/such/path";
  EXPECT_EQ(node.ask(node.data, request).status, 401);
  request.headers["Authorization"] = api_node::credential;
  EXPECT_EQ(node.ask(node.data, request).status, 404);
}

// limits::auth_failures_max: a client that guesses must wait, but no other
// client of the same address, which may be that of a proxy.
TEST(ApiAccessTest, ManyWrongPasswordsLockNobodyOut) {
  const api_node node{true};
  plain_request request;
  request.path = "/health";
  request.headers["Authorization"] = wrong;
  for (size_t i = 0; i < limits::auth_failures_max; ++i)
    ASSERT_EQ(node.ask(node.data, request, "127.0.2.1").status, 401) << i;
  auto guesser = raw_peer::dial(node.data, "127.0.2.1");
  guesser.send("GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
               + std::string{wrong} + "\r\n\r\n");
  request.headers["Authorization"] = api_node::credential;
  for (const auto port : {node.data, node.operations}) {
    request.path = port == node.data ? "/health" : "/livez";
    EXPECT_EQ(node.ask(port, request, "127.0.2.1").status, 200);
  }
  EXPECT_TRUE(guesser.read_until("\r\n").starts_with("HTTP/1.1 429 "));
  guesser.read_until("}");
  guesser.send("GET /health HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
               + std::string{api_node::credential} + "\r\n\r\n");
  EXPECT_TRUE(guesser.read_until("\r\n").starts_with("HTTP/1.1 200 "));
}

// hostile-inputs.md 2.2.4: Host allow-list against DNS rebinding
TEST(ApiAccessTest, EveryRouteRefusesHostsThatAreNotTheNodes) {
  const api_node node{false};
  for (const auto& x : all_routes()) {
    auto request = request_for(x);
    request.headers["Host"] = "evil.example";
    const auto reply = node.ask(port_of(node, x), request);
    EXPECT_EQ(reply.status, 403) << x.pattern;
    EXPECT_NE(reply.body.find("HostNotAllowed"), std::string::npos);
    EXPECT_NE(reply.body.find("allowed_hosts"), std::string::npos);
  }
  auto without = request_for(all_routes()[0]);
  without.headers["Host"] = "";
  EXPECT_EQ(node.ask(node.data, without).status, 400);
}

TEST(ApiAccessTest, LoopbackNamesAndConfiguredHostsAreAllowed) {
  const api_node node{false, {"--allowed-hosts", "weir.example"}};
  plain_request request;
  request.path = "/health";
  for (const auto* host : {"localhost", "LOCALHOST:1", "127.0.0.1", "[::1]:80",
                           "weir.example", "Weir.Example:2480", "localhost:",
                           "[::1]:", "localhost.", "weir.example.:2480"}) {
    request.headers["Host"] = host;
    EXPECT_EQ(node.ask(node.data, request).status, 200) << host;
  }
  for (const auto* host :
       {"weir.example.evil", "xweir.example", "localhost..", "127.0.0.1.nip.io",
        "[::2]", "[::1]evil.com", "[::1]:80:evil.com", "[::1",
        "localhost:evil", "localhost:80:evil.com", ".", "localhost:0",
        "localhost:65536", "weir.example:evil"}) {
    request.headers["Host"] = host;
    EXPECT_EQ(node.ask(node.data, request).status, 403) << host;
  }
}

// hostile-inputs.md 2.2.4: pages of other origins, WebSocket upgrades too
TEST(ApiAccessTest, EveryRouteRefusesForeignOrigins) {
  const api_node node{false};
  for (const auto& x : all_routes()) {
    auto request = request_for(x);
    const auto own = "127.0.0.1:" + std::to_string(port_of(node, x));
    for (const std::string& origin :
         {std::string{}, std::string{"https://evil.example"},
          std::string{"null"}, own, "chrome-extension://" + own, "//" + own,
          "http://" + own + "0", "http://" + own + "/",
          "http://evil.example@" + own}) {
      // Pages of the node itself are allowed.
      request.headers["Origin"] = origin.empty() ? "http://" + own : origin;
      const auto status = node.ask(port_of(node, x), request).status;
      if (origin.empty())
        EXPECT_NE(status, 403) << x.pattern;
      else
        EXPECT_EQ(status, 403) << x.pattern << " " << origin;
    }
  }
}

// Browsers send no Origin with an image or a link, but name the requesting page
// in other fields. No page of another site can make the node do anything.
TEST(ApiAccessTest, EveryRouteRefusesWhatPagesOfOtherSitesLoad) {
  const api_node node{false};
  for (const auto& x : all_routes()) {
    const auto own = "http://127.0.0.1:" + std::to_string(port_of(node, x));
    const auto ask = [&](const char* name, const std::string& value) {
      auto request = request_for(x);
      request.headers[name] = value;
      return node.ask(port_of(node, x), request).status;
    };
    for (const auto* site : {"cross-site", "same-site", "?"})
      EXPECT_EQ(ask("Sec-Fetch-Site", site), 403) << x.pattern << site;
    for (const auto* site : {"same-origin", "none"})
      EXPECT_NE(ask("Sec-Fetch-Site", site), 403) << x.pattern << site;
    for (const auto& page :
         {std::string{"https://evil.example/page"}, own + "0/", own + "@evil"})
      EXPECT_EQ(ask("Referer", page), 403) << x.pattern << page;
    for (const auto& page : {own, own + "/page?x"})
      EXPECT_NE(ask("Referer", page), 403) << x.pattern << page;
  }
}

// If a field comes twice, a proxy in front of the node may read the other
// value.
TEST(ApiAccessTest, FieldsThatMayComeOnceAreRefusedTwice) {
  const api_node node{false};
  const auto ask = [&](const std::string& fields) {
    auto peer = raw_peer::dial(node.data);
    peer.send("GET /health HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n");
    const auto answer = peer.read_until("\r\n\r\n");
    return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
  };
  for (const std::string field :
       {"Origin: http://localhost\r\n", "Referer: http://localhost/\r\n",
        "Sec-Fetch-Site: none\r\n", "Authorization: Basic YQ==\r\n",
        "Expect: 100-continue\r\n"}) {
    EXPECT_EQ(ask(field), 200) << field;
    EXPECT_EQ(ask(field + field), 400) << field;
  }
}

// A key is 16 bytes in base64. A request without a valid one is not from a
// browser's WebSocket.
TEST(ApiAccessTest, ChannelsOpenWithOneProperKeyOnly) {
  const api_node node{false};
  const auto ask = [&](const std::string& key) {
    auto request = api_node::upgrade("/channel");
    request.headers["Sec-WebSocket-Key"] = key;
    return node.ask(node.data, request).status;
  };
  const std::string good = "dGhlIHNhbXBsZSBub25jZQ==";
  EXPECT_EQ(ask(good), 101);
  EXPECT_EQ(ask(good + "\r\nSec-WebSocket-Key: " + good), 400) << "two keys";
  for (const std::string key :
       {"", "!!!!!!!!!!!!!!!!!!!!!!==", "dGhlIHNhbXBsZSBub25jZQ",
        "dGhlIHNhbXBsZSBub25jZR==", "dGhlIHNhbXBsZSBub25j",
        "dGhlIHNhbXBsZSBub25jZQAA", "dGhlIHNhbXBsZSBub25jZQAAAAAA",
        "dGhlIHNhbXBs ZSBub25jZQ="})
    EXPECT_EQ(ask(key), 400) << key;
}

// hostile-inputs.md 2.2.4: JSON content type on POST
TEST(ApiAccessTest, EveryPostAsksForJson) {
  const temp_dir dir;
  const api_node node{false};
  size_t posts = 0;
  for (const auto& x : all_routes()) {
    if (x.method != "POST")
      continue;
    ++posts;
    auto request = request_for(x);
    if (x.what == actors::action::backup)
      request.body = R"({"directory":")" + dir.at("backups") + R"("})";
    for (const auto* type : {"", "text/plain", "application/jsonp",
                             "application/x-www-form-urlencoded"}) {
      request.headers["Content-Type"] = type;
      EXPECT_EQ(node.ask(port_of(node, x), request).status, 415)
        << x.pattern << " " << type;
    }
    for (const auto* type : {"Application/JSON; charset=utf-8",
                             "application/json ;charset=utf-8"}) {
      request.headers["Content-Type"] = type;
      EXPECT_EQ(node.ask(port_of(node, x), request).status, 200)
        << x.pattern << " " << type;
    }
  }
  EXPECT_EQ(posts, 6u);
}

TEST(ApiAccessTest, AnotherMethodIsNamedAndChangesNothing) {
  const api_node node{false};
  for (const auto& x : all_routes()) {
    if (x.upgrade)
      continue;
    auto request = request_for(x);
    request.method = "DELETE";
    EXPECT_EQ(node.ask(port_of(node, x), request).status, 405) << x.pattern;
  }
}

TEST(ApiAccessTest, OnePortDoesNotAnswerForTheOther) {
  const api_node node{false};
  for (const auto& x : all_routes()) {
    const auto other = x.on == port::data ? node.operations : node.data;
    EXPECT_EQ(node.ask(other, request_for(x)).status, 404) << x.pattern;
  }
}

} // namespace weir::tests
