#include "net/http_client.hpp"
#include "net/tls.hpp"
#include "net/ws_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/support/net_tls_authority.hpp"
#include "tests/support/net_ws_peer.hpp"

#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <future>
#include <sys/stat.h>
#include <unistd.h>

namespace weir::net {

namespace {

using namespace tests;

using tls_script = std::function<void(tls_peer&)>;

class TlsTest : public NetFixture {
protected:
  TlsTest() {
    ca_file = (std::filesystem::temp_directory_path()
               / ("weir_tls_test_" + std::to_string(getpid()) + ".pem"))
                .string();
    authority.save(ca_file);
    auto made = tls_client::make({ca_file});
    EXPECT_TRUE(made);
    tls = *made;
  }

  ~TlsTest() override { std::filesystem::remove(ca_file); }

  /// Serves TLS connections with a certificate that has these claims.
  scripted_server serve(tls_script script, const tls_claims& claims = {},
                        int version_max = 0) {
    auto identity = std::make_shared<tls_identity>(authority.issue(claims));
    return scripted_server{[=](raw_peer& socket, size_t) {
      tls_peer peer{socket, *identity, version_max};
      if (peer.open())
        script(peer);
    }};
  }

  static void answer(tls_peer& peer) {
    while (!peer.read_until("\r\n\r\n").empty())
      peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  }

  result<http_response> get(uint16_t port, std::string_view host = "localhost",
                            size_t body_max = 1 << 20) {
    http_client_options options;
    options.guard = address_guard{true};
    options.tls = tls;
    auto client = make_http_client(network, options);
    http_request x;
    x.limits.tls = 500ms;
    x.limits.body_bytes_max = body_max;
    x.target = *parse_url("https://" + std::string{host} + ":"
                          + std::to_string(port) + "/");
    inbox<result<http_response>> got;
    client->get(x, [&got](result<http_response> y) {
      got.push(std::move(y));
    });
    auto end = got.pop();
    EXPECT_TRUE(end);
    return end ? *end : fail(ec::cancelled, "no answer");
  }

  /// The error of a connection to a server with these claims; "" when it works.
  std::string failure(const tls_claims& claims,
                      std::string_view host = "localhost") {
    auto server = serve(answer, claims);
    auto x = get(server.port(), host);
    return x ? "" : x.error().context;
  }

  tls_authority authority;
  std::string ca_file;
  tls_client_ptr tls;
};

} // namespace

// hostile-inputs.md 2.1.28.
TEST_F(TlsTest, AServerWithTheRightNameIsTrusted) {
  inbox<std::string> names;
  auto server = serve([&](tls_peer& peer) {
    names.push(peer.server_name());
    answer(peer);
  });
  auto got = get(server.port());
  ASSERT_TRUE(got) << got.error().context;
  EXPECT_EQ(as_text(got->body), "ok");
  EXPECT_EQ(names.pop(), "localhost");
  EXPECT_TRUE(get(server.port(), "127.0.0.1"));
  EXPECT_EQ(names.pop(), "") << "addresses are not sent as names";
}

TEST_F(TlsTest, WrongNamesAndTimesAreRefused) {
  EXPECT_EQ(failure({}), "");
  EXPECT_EQ(failure({"DNS:other.example.com"}),
            "TLS handshake: hostname mismatch");
  EXPECT_EQ(failure({"DNS:localhost"}, "127.0.0.1"),
            "TLS handshake: IP address mismatch");
  EXPECT_EQ(failure({"DNS:localhost", -7'200, -3'600}),
            "TLS handshake: certificate has expired");
  EXPECT_EQ(failure({"DNS:localhost", 3'600, 7'200}),
            "TLS handshake: certificate is not yet valid");
}

TEST_F(TlsTest, StrangersAreRefused) {
  tls_authority other;
  auto identity = other.issue();
  scripted_server server{[&identity](raw_peer& socket, size_t) {
    tls_peer peer{socket, identity};
    EXPECT_FALSE(peer.open() && !peer.read_until("\r\n\r\n").empty());
  }};
  auto x = get(server.port());
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, ec::unreachable);
  // The machine's own list does not contain our authority either.
  tls = *tls_client::make();
  auto known = serve(answer);
  EXPECT_FALSE(get(known.port()));
}

TEST_F(TlsTest, VersionsBelowTls12AreRefused) {
  for (auto version : {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION}) {
    auto server = serve(answer, {}, version);
    EXPECT_EQ(get(server.port()).has_value(), version == TLS1_2_VERSION);
  }
}

TEST_F(TlsTest, ABodyThatEndsWithoutCloseNotifyIsCutOff) {
  for (auto polite : {true, false}) {
    auto server = serve([polite](tls_peer& peer) {
      peer.read_until("\r\n\r\n");
      peer.send("HTTP/1.1 200 OK\r\n\r\nto the end");
      if (polite)
        peer.close_notify();
    });
    auto got = get(server.port());
    EXPECT_EQ(got.has_value(), polite);
    EXPECT_TRUE(got || got.error().code == ec::unreachable);
  }
}

TEST_F(TlsTest, AServerThatDoesNotSpeakTlsIsGivenUp) {
  scripted_server silent{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  auto x = get(silent.port());
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().context, "TLS handshake: timed out");
  scripted_server plain{[](raw_peer& peer, size_t) {
    peer.send("HTTP/1.1 400 Bad Request\r\n\r\n");
    peer.wait_for_end();
  }};
  EXPECT_EQ(get(plain.port()).error().code, ec::unreachable);
}

TEST_F(TlsTest, LargeBodiesPassWhole) {
  constexpr size_t size = 20'000'000;
  auto server = serve([](tls_peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(size)
              + "\r\n\r\n");
    std::string block(100'000, 'x');
    for (size_t sent = 0; sent < size; sent += block.size())
      peer.send(block);
    peer.read_until("never");
  });
  auto got = get(server.port(), "localhost", size);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->body.size(), size);
}

TEST_F(TlsTest, AnHttpsServerCannotSendUsToPlainHttp) {
  auto server = serve([](tls_peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
              "Location: http://localhost:1/\r\n\r\n");
  });
  auto x = get(server.port());
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, ec::invalid_argument);
}

TEST_F(TlsTest, AMissingCaFileIsAnError) {
  auto x = tls_client::make({"/nonexistent/ca.pem"});
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, ec::invalid_argument);
}

// Reading a pipe waits for its writer, perhaps for ever.
TEST_F(TlsTest, ACaFileIsNoPipeAndNoDevice) {
  const auto pipe = ca_file + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& file : {pipe, std::string{"/dev/null"},
                           std::filesystem::temp_directory_path().string()}) {
    auto made = std::async(std::launch::async, [&file] {
      return tls_client::make({file});
    });
    const auto in_time = made.wait_for(10s) == std::future_status::ready;
    EXPECT_TRUE(in_time) << file;
    if (!in_time) // A writer that comes and goes ends the wait.
      ::close(::open(pipe.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    const auto x = made.get();
    ASSERT_FALSE(x) << file;
    EXPECT_EQ(x.error().code, ec::invalid_argument);
    EXPECT_NE(x.error().context.find(file + ": it is no file"),
              std::string::npos)
      << x.error().context;
  }
  std::filesystem::remove(pipe);
}

TEST_F(TlsTest, ACaFileMayBeBehindALink) {
  const auto link = ca_file + ".link";
  std::filesystem::create_symlink(ca_file, link);
  EXPECT_TRUE(tls_client::make({link}));
  std::filesystem::remove(link);
}

namespace {

class stream_listener final : public ws_listener {
public:
  void on_open() override { opens.push(true); }

  void on_frames(std::vector<shared_bytes> x) override {
    for (auto& frame : x)
      frames.push(std::string{as_text(frame.view())});
  }

  void on_close(const ws_close_info& info) override {
    closes.push(info.reason);
  }

  inbox<bool> opens;
  inbox<std::string> frames;
  inbox<error> closes;
};

} // namespace

TEST_F(TlsTest, EventStreamsRunOverTls) {
  auto server = serve([](tls_peer& peer) {
    auto head = peer.read_until("\r\n\r\n");
    auto key = head.substr(head.find("Key: ") + 5, 24);
    peer.send("HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: upgrade\r\n"
              "Sec-WebSocket-Accept: "
              + ws_accept_key(key) + "\r\n\r\n");
    for (int i = 0; i < 3; ++i) {
      auto frame = ws_frame(ws_opcode::binary,
                            bytes(static_cast<size_t>(i) * 100'000, 'x'));
      peer.send(as_text(frame));
    }
    peer.read_until("never");
  });
  ws_client_options options;
  options.guard = address_guard{true};
  options.tls = tls;
  options.target
    = *parse_url("wss://localhost:" + std::to_string(server.port()));
  auto listener = std::make_shared<stream_listener>();
  auto client = make_ws_client(network, options, listener);
  ASSERT_TRUE(listener->opens.pop());
  client->grant(10, 1'000'000);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(listener->frames.pop(), std::string(i * 100'000, 'x'));
  client->close();
  EXPECT_EQ(listener->closes.pop()->code, ec::cancelled);
}

} // namespace weir::net
