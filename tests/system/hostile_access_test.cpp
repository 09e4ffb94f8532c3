#include "tests/support/private_file.hpp"
#include "tests/system/api_node.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

#include <fstream>

namespace weir::tests {

namespace {

/// Spellings of a path that a careless check and a careless router read
/// differently, and ways out of a folder.
std::vector<std::string> spellings_of(const std::string& path) {
  std::vector<std::string> out;
  const auto name = path.substr(1);
  for (const auto* x :
       {"//", "/./", "/.//", "/../", "/x/../", "/%2e/", "/%2e%2e/", "/%2f",
        "/%5c", "/\\", "/;/", "/%00", "/%20", "/health/../", "/health/%2e%2e/"})
    out.push_back(x + name);
  for (const auto* x : {"/", "/.", "/..", "%2f", "%00", "%0d%0a", "%20", ";",
                        ";a=b", ".json", "%23", "\\", "~"})
    out.push_back(path + x);
  auto upper = path;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  out.push_back(upper);
  constexpr const char* hex = "0123456789abcdef";
  const auto first = static_cast<size_t>(name.front());
  const std::string code{hex[first / 16], hex[first % 16]};
  // Decoded twice, it is the path.
  out.push_back("/%25" + code + name.substr(1));
  return out;
}

} // namespace

// hostile-inputs.md 2.2.1, 2.2.10: with any spelling of a path, nothing is
// served without the password, and only routes with it.
TEST(HostileAccessTest, OtherSpellingsOfAPathLeadNowhere) {
  const api_node node{true};
  auto paths = spellings_of("/config");
  for (const auto* x :
       {"/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
        "/..%2f..%2fetc%2fpasswd", "/....//....//etc/passwd", "/.git/config",
        "/static/../../etc/passwd", "/file:///etc/passwd"})
    paths.emplace_back(x);
  for (size_t i = 0; i < paths.size(); ++i) {
    plain_request x;
    x.path = paths[i];
    const auto from = "127.0.7." + std::to_string(i + 1);
    const auto without = node.ask(node.data, x, from.c_str());
    EXPECT_TRUE(without.status == 401 || without.status == 400)
      << x.path << ": " << without.status;
    x.headers["Authorization"] = api_node::credential;
    const auto with = node.ask(node.data, x, from.c_str());
    EXPECT_TRUE(with.status == 404 || with.status == 400)
      << x.path << ": " << with.status;
    EXPECT_EQ(with.body.find("root:"), std::string::npos);
  }
  plain_request plain;
  plain.headers["Authorization"] = api_node::credential;
  for (const auto* path : {"/config", "/%63onfig"}) {
    plain.path = path;
    EXPECT_EQ(node.ask(node.data, plain).status, 200) << path;
  }
  plain.path = "/config?x=/../";
  EXPECT_EQ(node.ask(node.data, plain).status, 400) << "nobody takes that";
}

// hostile-inputs.md 2.2.4: requests without a Host, with two, or of HTTP/1.0
TEST(HostileAccessTest, ARequestWithoutOneAllowedHostIsRefused) {
  const api_node node{false};
  const auto ask = [&](const std::string& head) {
    auto peer = raw_peer::dial(node.data);
    peer.send(head + "\r\n");
    const auto answer = peer.read_until("\r\n\r\n");
    return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3));
  };
  EXPECT_EQ(ask("GET /health HTTP/1.0\r\nHost: localhost\r\n"), 200);
  EXPECT_EQ(ask("GET /health HTTP/1.0\r\nHost: evil.test\r\n"), 403);
  for (const std::string fields :
       {"", "Host:\r\n", "Host: \r\n", "Host: localhost@evil.test\r\n",
        "Host: evil.test:localhost\r\n", "Host: 0.0.0.0\r\n", "Host: 127.1\r\n",
        "Host: 2130706433\r\n", "Host: [::ffff:7f00:1]\r\n",
        "Host: localhost.evil.test\r\n", "X-Forwarded-Host: localhost\r\n",
        "Host: evil.test\r\nX-Forwarded-Host: localhost\r\n",
        "Host: localhost\r\nHost: evil.test\r\n"})
    for (const auto* version : {"1.0", "1.1"}) {
      const auto status
        = ask("GET /health HTTP/" + std::string{version} + "\r\n" + fields);
      EXPECT_TRUE(status == 403 || status == 400) << version << ' ' << fields;
    }
}

// hostile-inputs.md 2.2.11: the most detailed log contains no secret, and an
// answer no internal data.
TEST(HostileAccessTest, SecretsAreInNoLogAndNoAnswer) {
  const temp_dir dir;
  const std::string password = "s3cret-of-the-operator";
  const std::string encoded = "YWRtaW46czNjcmV0LW9mLXRoZS1vcGVyYXRvcg==";
  const std::string wrong = "YWRtaW46dzBudC1iZS1zZWVu"; // admin:w0nt-be-seen
  write_private(dir.at("password"), password + '\n');
  hostile_stream stream;
  hostile_host hub;
  hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  program node{{"run", "--data-dir", dir.at("data"), "--bind", "127.0.0.1:0",
                "--plc-url", hub.url(), "--allow-private-addresses",
                "--upstream", "relay:" + hub.url(), "--log-level", "debug",
                "--admin-password-file", dir.at("password")}};
  const auto ready = node.read_line(60s);
  ASSERT_TRUE(ready) << node.errors();
  const auto before = node.resident_bytes();
  std::string said = *ready;
  for (const auto& url :
       {parse_ready(*ready).data, parse_ready(*ready).operations})
    for (const std::string& credential : {encoded, wrong})
      for (const auto* path :
           {"/health", "/config", "/status", "/v1/status", "/metrics", "/nothing",
            "/repos?password=in-the-url-1234", "/resolve/nonsense"}) {
        const auto port = std::stoul(url.substr(url.rfind(':') + 1));
        auto peer = raw_peer::dial(static_cast<uint16_t>(port));
        peer.send("GET " + std::string{path}
                  + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                    "Authorization: Basic "
                  + credential + "\r\n\r\n");
        said += peer.read_all();
      }
  EXPECT_LT(node.peak_bytes(), before + 16 * megabyte + memory_slack);
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0);
  said += node.output() + node.errors();
  EXPECT_NE(said.find("HTTP/1.1 200 "), std::string::npos);
  EXPECT_NE(said.find("HTTP/1.1 401 "), std::string::npos);
  for (const auto& secret :
       {password, encoded, wrong, std::string{"w0nt-be-seen"},
        std::string{"in-the-url-1234"}})
    EXPECT_EQ(said.find(secret), std::string::npos) << tail_of(said);
}

} // namespace weir::tests
