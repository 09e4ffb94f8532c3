#include "actors/api/limits.hpp"
#include "net/limits.hpp"
#include "tests/system/api_node.hpp"
#include "tests/system/patience.hpp"
#include "wire/limits.hpp"

#include <array>

namespace weir::tests {

namespace {

using outcome = raw_peer::outcome;

/// Sends exactly these bytes. Returns the status of the answer, which must be
/// the only one and end the connection.
int refused_with(const api_node& node, const std::string& request) {
  auto peer = raw_peer::dial(node.data);
  peer.send(request);
  outcome how = outcome::data;
  const auto answer = peer.read_all(&how);
  EXPECT_EQ(how, outcome::end) << request.substr(0, 200);
  constexpr const char* once = "\r\nContent-Length: ";
  EXPECT_EQ(answer.find(once), answer.rfind(once)) << "answers: " << answer;
  return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
}

bool is_healthy(const api_node& node, const char* source = "127.0.5.1") {
  plain_request request;
  request.path = "/health";
  return node.ask(node.data, request, source).status == 200;
}

std::string post(const std::string& body) {
  return "POST /repos/add HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
         "Content-Type: application/json\r\nContent-Length: "
         + std::to_string(body.size()) + "\r\n\r\n" + body;
}

/// Asks on a connection that stays open, and reads the whole answer. 0: there
/// is none.
int status_of(raw_peer& peer, const std::string& path,
              const std::string& fields) {
  peer.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n" + fields
            + "\r\n");
  const auto head = peer.read_until("\r\n\r\n");
  constexpr std::string_view length = "\r\nContent-Length: ";
  const auto at = head.find(length);
  if (at == std::string::npos)
    return 0;
  peer.read_exactly(std::stoul(head.substr(at + length.size())));
  return std::stoi(head.substr(9, 3));
}

using namespace std::string_view_literals;

// Ways to hide the end of a request and so the beginning of the next: fields in
// front of "0\r\n\r\n", fields in front of "{}", chunks, whole heads.
constexpr std::array chunked_fields{
  "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"sv,
  "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"sv,
  "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n"sv,
  "Transfer-Encoding: identity\r\nContent-Length: 2\r\n"sv,
  "Transfer-Encoding: xchunked\r\n"sv,
  "Transfer-Encoding: chunked, identity\r\n"sv,
  "Transfer-Encoding: identity, chunked\r\n"sv,
  "Transfer-Encoding: gzip, chunked\r\n"sv,
  "Transfer-Encoding: chunked, chunked\r\n"sv,
  "Transfer-Encoding: \"chunked\"\r\n"sv,
  "Transfer-Encoding: chunked;x=y\r\n"sv,
  "Transfer-Encoding:\r\n"sv,
  "Transfer-Encoding: \vchunked\r\n"sv,
  "Transfer-Encoding : chunked\r\n"sv,
  "Transfer-Encoding\r\n : chunked\r\n"sv,
  " Transfer-Encoding: chunked\r\n"sv,
  "X: y\r\n Transfer-Encoding: chunked\r\n"sv,
  "X: y\nTransfer-Encoding: chunked\r\n"sv,
  "X: y\rTransfer-Encoding: chunked\r\n"sv,
  "Transfer-Encoding: chunked\n"sv,
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"sv,
  "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"sv,
};

constexpr std::array length_fields{
  "Content-Length: 2\r\nContent-Length: 2\r\n"sv,
  "Content-Length: 2\r\nContent-Length: 40\r\n"sv,
  "Content-Length: 2, 2\r\n"sv,
  "Content-Length: 2,40\r\n"sv,
  "Content-Length: +2\r\n"sv,
  "Content-Length: -2\r\n"sv,
  "Content-Length: 0x2\r\n"sv,
  "Content-Length: 2.0\r\n"sv,
  "Content-Length: 2e0\r\n"sv,
  "Content-Length: 2 0\r\n"sv,
  "Content-Length: 2;\r\n"sv,
  "Content-Length: \"2\"\r\n"sv,
  "Content-Length:\r\n"sv,
  "Content-Length: 99999999999999999999\r\n"sv,
  "Content-Length: 18446744073709551618\r\n"sv,
  "Content-Length : 2\r\n"sv,
  "Content-Length\t: 2\r\n"sv,
  " Content-Length: 2\r\n"sv,
  "Content-Length: \r\n 2\r\n"sv,
  "Content Length: 2\r\n"sv,
  ": 2\r\nContent-Length: 2\r\n"sv,
  "Content-Length\r\n"sv,
  "X: a\r\n folded: b\r\nContent-Length: 2\r\n"sv,
  "X: a\r\n\tfolded\r\nContent-Length: 2\r\n"sv,
  "X: a\nContent-Length: 2\r\n"sv,
  "X: a\rContent-Length: 2\r\n"sv,
  "X: a\x01\r\nContent-Length: 2\r\n"sv,
  "X: a\0b\r\nContent-Length: 2\r\n"sv,
  "X: a\x7f\r\nContent-Length: 2\r\n"sv,
  "X\x80: a\r\nContent-Length: 2\r\n"sv,
  "Host: localhost\r\nContent-Length: 2\r\n"sv,
  "Host: evil.test\r\nContent-Length: 2\r\n"sv,
};

constexpr std::array chunks{
  "g\r\n\r\n"sv,
  "-1\r\n\r\n"sv,
  "+2\r\n{}\r\n0\r\n\r\n"sv,
  "0x2\r\n{}\r\n0\r\n\r\n"sv,
  " 2\r\n{}\r\n0\r\n\r\n"sv,
  "2\n{}\r\n0\r\n\r\n"sv,
  "2\r\n{}0\r\n\r\n"sv,
  "2\r\n{}\n0\r\n\r\n"sv,
  "2;\n{}\r\n0\r\n\r\n"sv,
  "ffffffffffffffff1\r\n{}"sv,
  "\r\n{}"sv,
};

constexpr std::array heads{
  "GET /health HTTP/1.1\nHost: localhost\n\n"sv,
  "GET http://localhost/health HTTP/1.1\r\nHost: a\r\n\r\n"sv,
  "GET  /health HTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
  "GET /health\tHTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
  "GET /health HTTP/1.1 \r\nHost: localhost\r\n\r\n"sv,
  "GET /health HTTP/2.0\r\nHost: localhost\r\n\r\n"sv,
  "GET /health HTTP/01.1\r\nHost: localhost\r\n\r\n"sv,
  "GET /health\r\nHost: localhost\r\n\r\n"sv,
  " GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
  "G\x01T /health HTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
  "CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
  "GET * HTTP/1.1\r\nHost: localhost\r\n\r\n"sv,
};

} // namespace

// hostile-inputs.md 2.2.5: a request that hides a second one gets one answer,
// and nothing more of that connection is read.
TEST(HostileClientTest, AHiddenSecondRequestIsNeverAnswered) {
  const api_node node{false};
  const std::string hidden = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const std::string post_head
    = "POST /repos/add HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\n";
  std::vector<std::string> all{heads.begin(), heads.end()};
  for (const auto x : chunked_fields)
    all.push_back(post_head + std::string{x} + "\r\n0\r\n\r\n");
  for (const auto x : length_fields)
    all.push_back(post_head + std::string{x} + "\r\n{}");
  for (const auto x : chunks)
    all.push_back(post_head + "Transfer-Encoding: chunked\r\n\r\n"
                  + std::string{x});
  EXPECT_GE(all.size(), 60u);
  for (const auto& x : all)
    EXPECT_EQ(refused_with(node, x + hidden), 400) << x;
  EXPECT_TRUE(is_healthy(node));
}

// limits::http_request_head_bytes_max, limits::http_request_fields_max
TEST(HostileClientTest, HeadsAreTakenUpToTheLimitAndRefusedAboveIt) {
  const api_node node{false};
  const std::string start = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                            "Connection: close\r\nX: ";
  const auto sized = [&](size_t bytes) {
    return start + std::string(bytes - start.size() - 4, 'a') + "\r\n\r\n";
  };
  EXPECT_EQ(refused_with(node, sized(limits::http_request_head_bytes_max)),
            200);
  EXPECT_EQ(refused_with(node, sized(limits::http_request_head_bytes_max + 1)),
            431);
  const auto counted = [](size_t fields) {
    std::string out = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                      "Connection: close\r\n";
    for (size_t i = 2; i < fields; ++i)
      out += "X: a\r\n";
    return out + "\r\n";
  };
  EXPECT_EQ(refused_with(node, counted(limits::http_request_fields_max)), 200);
  EXPECT_EQ(refused_with(node, counted(limits::http_request_fields_max + 1)),
            431);
}

// limits::bulk_body_bytes_max, limits::json_depth_max: a body whose declared
// length is too large is refused unread, a deep one at its limit.
TEST(HostileClientTest, OversizedAndDeepJsonCostsNoMemory) {
  const api_node node{false};
  const auto padded = [](size_t bytes) {
    const std::string json = R"({"dids":[]})";
    return json + std::string(bytes - json.size(), ' ');
  };
  EXPECT_EQ(refused_with(node, post(padded(limits::bulk_body_bytes_max))), 200);
  EXPECT_EQ(
    refused_with(node, "POST /repos/add HTTP/1.1\r\nHost: localhost\r\n"
                       "Content-Type: application/json\r\nContent-Length: "
                         + std::to_string(limits::bulk_body_bytes_max + 1)
                         + "\r\n\r\n"),
    413);
  const auto nested = [](size_t depth) { // The object around it counts.
    return R"({"dids":[],"x":)" + std::string(depth - 1, '[')
           + std::string(depth - 1, ']') + '}';
  };
  for (const auto depth : {limits::json_depth_max, limits::json_depth_max + 1,
                           size_t{1'000'000}})
    EXPECT_EQ(refused_with(node, post(nested(depth))), 400) << depth;
  EXPECT_TRUE(is_healthy(node));
}

// A body costs memory for the DIDs that are kept, not for its size.
TEST(HostileClientTest, LongBodiesCostMemoryForWhatIsUsedOfThemOnly) {
  const api_node node{false};
  const auto filled = [](std::string_view start, std::string_view item,
                         std::string_view end) {
    std::string out{start};
    while (out.size() + item.size() + end.size() <= limits::bulk_body_bytes_max)
      out += item;
    return out + std::string{end};
  };
  EXPECT_EQ(refused_with(node, post(filled(R"({"dids":[],"x":[1)", ",1", "]}"))),
            400);
  EXPECT_EQ(refused_with(node, post(filled(R"(["")", R"(,"")", "]"))), 400);
  EXPECT_EQ(refused_with(node, post(filled(R"({"dids":[],"a":{"":0)",
                                           R"(,"":0)", "}}"))),
            400);
  EXPECT_EQ(refused_with(node, post(filled(R"({"dids":[""])", R"(,"":[])", "}"))),
            400);
  EXPECT_EQ(refused_with(node, post(filled(R"({"dids":["")", R"(,"")", "]}"))),
            413);
  EXPECT_EQ(
    refused_with(node, post(filled(R"({"dids":[],"collections":["")",
                                   R"(,"")", "]}"))),
    413);
  EXPECT_EQ(refused_with(node, post(filled(R"({"dids":[")", "x", R"("]})"))),
            400);
  EXPECT_TRUE(is_healthy(node));
}

// Bodies that are announced and never sent take no room from other requests.
TEST(HostileClientTest, AnnouncedBodiesThatNeverComeHoldUpNobody) {
  const api_node node{false};
  std::vector<raw_peer> silent;
  for (size_t i = 0; i < 40; ++i) {
    silent.push_back(raw_peer::dial(node.data));
    silent.back().send(
      "POST /repos/add HTTP/1.1\r\nHost: localhost\r\n"
      "Content-Type: application/json\r\nExpect: 100-continue\r\n"
      + (i % 2 == 0 ? "Content-Length: "
                        + std::to_string(limits::bulk_body_bytes_max)
                    : std::string{"Transfer-Encoding: chunked"})
      + "\r\n\r\n");
    const auto answer = silent.back().read_until("\r\n\r\n");
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 100 ")) << answer;
  }
  EXPECT_EQ(refused_with(node, post(R"({"dids":[]})")), 200);
}

// hostile-inputs.md 2.2.9: of 2,000 slow sockets of one network the last ones
// keep its share, and the others are cut at once. A new client is served.
// limits::http_server_per_network_max
TEST(HostileClientTest, TwoThousandSlowSocketsLeaveRoomForANewClient) {
  constexpr size_t addresses = 10;
  constexpr size_t sockets = 200;
  api_node node{false};
  node.may_grow_by(32 * megabyte);
  std::vector<raw_peer> slow;
  for (size_t i = 0; i < addresses * sockets; ++i) {
    const auto from = "127.0.6." + std::to_string(1 + i % addresses);
    slow.push_back(raw_peer::dial(node.data, from.c_str()));
    slow.back().send("GET /health HTTP/1.1\r\nHost: lo");
  }
  EXPECT_TRUE(is_healthy(node));
  for (size_t i = 0; i + limits::http_server_per_network_max < slow.size();
       ++i)
    EXPECT_NE(slow[i].wait_for_end(), outcome::timeout) << i;
  EXPECT_TRUE(is_healthy(node));
}

// A client with the password is answered and keeps its connection, however many
// sockets strangers hold, in however many networks, including its own.
TEST(HostileClientTest, StrangersKeepNobodyOutWhoHasThePassword) {
  api_node node{true};
  node.may_grow_by(32 * megabyte);
  auto open = raw_peer::dial(node.data, "127.0.5.1");
  const auto request = "GET /health HTTP/1.1\r\nHost: localhost\r\n"
                       "Authorization: "
                       + std::string{api_node::credential} + "\r\n\r\n";
  const auto asks = [&](raw_peer& peer) {
    peer.send(request);
    return peer.read_until("}").starts_with("HTTP/1.1 200 ");
  };
  ASSERT_TRUE(asks(open));
  std::vector<raw_peer> strangers;
  for (size_t network = 1; network <= 30; ++network) {
    for (size_t i = 0; i < limits::http_server_per_address_max; ++i) {
      const auto from = "127.1." + std::to_string(network) + ".1";
      strangers.push_back(raw_peer::dial(node.data, from.c_str()));
      strangers.back().send("GET /health HTTP/1.1\r\nHost: localhost\r\n");
    }
    for (const auto* source : {"127.0.5.1", "127.1.1.1", "127.9.9.9"}) {
      auto peer = raw_peer::dial(node.data, source);
      EXPECT_TRUE(asks(peer)) << network << ' ' << source;
    }
  }
  EXPECT_TRUE(asks(open)) << "it has its place since then";
}

// hostile-inputs.md 2.2.9: who asks what needs no password stays a stranger, on
// both ports, and whether `open_probes` or the address permits it. The
// addresses would take all of `limits::http_server_connections_max` places.
TEST(HostileClientTest, OpenProbesKeepNobodyOut) {
  constexpr size_t addresses = 17;
  static_assert(addresses * limits::http_server_per_address_max
                > limits::http_server_connections_max);
  api_node node{true, {"--open-probes"}};
  node.may_grow_by(32 * megabyte);
  const auto key
    = "Authorization: " + std::string{api_node::credential} + "\r\n";
  for (const auto on : {node.data, node.operations})
    for (const std::string by : {"", "X-Forwarded-For: 192.0.2.1\r\n"}) {
      const auto* path = on == node.data ? "/health" : "/status";
      const auto probe = on == node.operations ? 200 : by.empty() ? 404 : 401;
      auto open = raw_peer::dial(on, "127.0.5.1");
      ASSERT_EQ(status_of(open, path, key), 200);
      std::vector<raw_peer> strangers;
      for (size_t i = 0; i < addresses * limits::http_server_per_address_max;
           ++i) {
        const auto from = "127.1." + std::to_string(1 + i % addresses) + ".1";
        strangers.push_back(raw_peer::dial(on, from.c_str()));
        ASSERT_EQ(status_of(strangers.back(), "/livez", by), probe) << i;
      }
      for (const auto* source : {"127.0.5.1", "127.1.1.1", "127.9.9.9"}) {
        auto monitor = raw_peer::dial(on, source);
        EXPECT_EQ(status_of(monitor, "/livez", by), probe) << source;
        auto client = raw_peer::dial(on, source);
        EXPECT_EQ(status_of(client, path, key + by), 200) << source;
      }
      EXPECT_EQ(status_of(open, path, key), 200) << "it has its place";
    }
}

// hostile-inputs.md 2.2.9: one address gets its share and no more. Each of its
// silent connections is closed, with 408 for requests that have begun.
TEST(HostileClientTest, SlowRequestsHoldUpNobodyAndEnd) {
  const api_node node{false};
  std::vector<raw_peer> slow;
  for (size_t i = 0; i < limits::http_server_per_address_max; ++i) {
    slow.push_back(raw_peer::dial(node.data, "127.0.4.1"));
    ASSERT_TRUE(slow.back().send(i % 2 == 0 ? "G" : ""));
  }
  EXPECT_TRUE(is_healthy(node, "127.0.4.1"));
  EXPECT_NE(slow[0].wait_for_end(), outcome::timeout) << "the oldest went";
  EXPECT_TRUE(is_healthy(node));
  for (size_t i = 1; i < slow.size(); ++i) {
    std::string answer;
    auto how = outcome::data; // The limit is 10 s; the test waits up to 15 s.
    while (how == outcome::data)
      how = slow[i].read_some(answer, 15'000);
    EXPECT_EQ(how, outcome::end) << i;
    EXPECT_EQ(answer.starts_with("HTTP/1.1 408 "), i % 2 == 0) << answer;
  }
}

} // namespace weir::tests
