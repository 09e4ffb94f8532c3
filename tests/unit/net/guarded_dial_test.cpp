#include "net/connector.hpp"
#include "net/http_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_memory.hpp"
#include "tests/support/net_scripted_server.hpp"

#include <map>

namespace weir::net {

namespace {

using namespace tests;

/// The real network with the test's name server; it records all connections. If
/// the test says so, a connection leads to another address than requested, as
/// in a hostile network.
class scripted_transport final : public transport {
public:
  explicit scripted_transport(transport_ptr real) : real_(std::move(real)) {
    // nop
  }

  event_loop& next_loop() noexcept override { return real_->next_loop(); }

  void dial(event_loop& loop, const endpoint& to,
            std::chrono::microseconds timeout, stream_handler done) override {
    dialled.push(to.address);
    real_->dial(loop, detour ? *detour : to, timeout, std::move(done));
  }

  result<std::unique_ptr<listener>> listen(const endpoint& at,
                                           accept_handler accepted) override {
    return real_->listen(at, std::move(accepted));
  }

  void
  resolve(event_loop& loop, std::string,
          std::function<void(result<std::vector<ip_address>>)> done) override {
    loop.post([this, done] {
      std::vector<ip_address> out;
      auto turn = std::min(look_ups++, answers.size() - 1);
      for (auto text : answers[turn])
        out.push_back(*ip_address::parse(text));
      done(std::move(out));
    });
  }

  void
  resolve_txt(event_loop&, std::string,
              std::function<void(result<std::vector<std::string>>)>) override {
    // nop
  }

  /// The answers to the first, second, ... look-up; the last one repeats.
  std::vector<std::vector<const char*>> answers;
  std::optional<endpoint> detour;
  inbox<ip_address> dialled;
  size_t look_ups = 0;

private:
  transport_ptr real_;
};

class GuardedDialTest : public NetFixture {
protected:
  GuardedDialTest() : wrapped(std::make_shared<scripted_transport>(network)) {
    // nop
  }

  result<stream_ptr> dial(std::string_view where, bool allow_private = false) {
    connect_options how;
    how.guard = address_guard{allow_private};
    how.tls = *tls_client::make();
    how.connect_timeout = 300ms;
    how.tls_timeout = 300ms;
    inbox<result<stream_ptr>> done;
    connect_to(wrapped, wrapped->next_loop(), *parse_url(where), how,
               [&done](result<stream_ptr> x) {
                 done.push(std::move(x));
               });
    auto x = done.pop();
    EXPECT_TRUE(x);
    return x ? *x : fail(ec::cancelled, "no answer");
  }

  std::shared_ptr<scripted_transport> wrapped;
};

/// A network in memory that knows some names.
class named_transport final : public transport {
public:
  event_loop& next_loop() noexcept override { return memory.next_loop(); }

  void dial(event_loop& loop, const endpoint& to,
            std::chrono::microseconds timeout, stream_handler done) override {
    memory.dial(loop, to, timeout, std::move(done));
  }

  result<std::unique_ptr<listener>> listen(const endpoint& at,
                                           accept_handler accepted) override {
    return memory.listen(at, std::move(accepted));
  }

  void
  resolve(event_loop& loop, std::string name,
          std::function<void(result<std::vector<ip_address>>)> done) override {
    loop.post([x = *ip_address::parse(names.at(name)), done = std::move(done)] {
      done(std::vector{x});
    });
  }

  void resolve_txt(
    event_loop& loop, std::string name,
    std::function<void(result<std::vector<std::string>>)> done) override {
    memory.resolve_txt(loop, std::move(name), std::move(done));
  }

  memory_transport memory;
  std::map<std::string, const char*> names{
    {"pds.example.com", "8.8.8.8"},
    {"other.example.com", "8.8.4.4"},
    {"loopback.example.com", "127.0.0.1"},
    {"v6.example.com", "::1"},
    {"private.example.com", "10.0.0.1"},
    {"mapped.example.com", "::ffff:7f00:1"},
    {"metadata.example.com", "169.254.169.254"}};
};

/// TLS without encryption: it sends exactly what it gets.
class open_tls final : public tls_client {
public:
  void connect(stream_ptr plain, std::string, std::chrono::microseconds,
               stream_handler done) const override {
    auto& loop = plain->loop();
    loop.post([plain = std::move(plain), done = std::move(done)] {
      done(plain);
    });
  }
};

/// One call to a public host that redirects it.
class RedirectGuardTest : public ::testing::Test {
protected:
  /// The result; no value while the call continues.
  std::optional<result<http_response>> follow(const std::string& to) {
    http_client_options options; // The guard lets no private address pass.
    options.tls = std::make_shared<open_tls>();
    auto client = make_http_client(network, options);
    std::optional<result<http_response>> out;
    http_request x;
    x.target = *parse_url("https://pds.example.com/");
    client->get(x, [&out](result<http_response> y) {
      out = std::move(y);
    });
    network->memory.loop.run();
    EXPECT_EQ(dialled().size(), 1u);
    dialled().front()->feed("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
                            "Location: "
                            + to + "\r\n\r\n");
    const auto told = out;
    client.reset();
    network->memory.loop.run();
    return told;
  }

  std::vector<memory_stream_ptr>& dialled() { return network->memory.dialled; }

  std::shared_ptr<named_transport> network
    = std::make_shared<named_transport>();
};

} // namespace

// hostile-inputs.md 2.1.23, 2.1.24: with the default guard, a redirect leads to
// public hosts over TLS and nowhere else.
TEST_F(RedirectGuardTest, OneToAPublicHostIsFollowed) {
  EXPECT_FALSE(follow("https://other.example.com/there"));
  ASSERT_EQ(dialled().size(), 2u);
  EXPECT_EQ(to_string(dialled().back()->remote()), "8.8.4.4:443");
  EXPECT_TRUE(dialled().front()->closed());
}

TEST_F(RedirectGuardTest, NoneLeadsIntoTheOwnNetworkOrOutOfTls) {
  constexpr const char* no_name = "not the name of a public host";
  constexpr const char* no_address = "address is not allowed";
  constexpr const char* plain = "from https to http";
  constexpr const char* no_port = "only port 443";
  constexpr const char* no_http = "not to an http or https URL";
  constexpr const char* no_url = "bad URL";
  const std::pair<const char*, const char*> cases[] = {
    {"https://127.0.0.1/", no_name},
    {"https://169.254.169.254/latest/meta-data/", no_name},
    {"https://[::1]/", no_name},
    {"https://[::ffff:127.0.0.1]/", no_name},
    {"https://localhost/", no_name},
    {"//127.0.0.1/", no_name},
    {"https://loopback.example.com/", no_address},
    {"https://metadata.example.com/", no_address},
    {"https://v6.example.com/", no_address},
    {"https://private.example.com/", no_address},
    {"https://mapped.example.com/", no_address},
    {"http://pds.example.com/", plain},
    {"http://other.example.com/", plain},
    {"http://127.0.0.1/", plain},
    {"http://169.254.169.254/", plain},
    {"http://[::1]/", plain},
    {"https://pds.example.com:8443/", no_port},
    {"https://other.example.com:80/", no_port},
    {"file:///etc/passwd", no_url},
    {"wss://other.example.com/", no_http},
  };
  for (const auto& [to, why] : cases) {
    dialled().clear();
    const auto end = follow(to);
    ASSERT_TRUE(end && !*end) << to;
    EXPECT_EQ(end->error().code, ec::invalid_argument) << to;
    EXPECT_NE(end->error().context.find(why), std::string::npos)
      << to << ": " << end->error().context;
    ASSERT_EQ(dialled().size(), 1u) << to;
    EXPECT_TRUE(dialled().front()->closed()) << to;
  }
}

// hostile-inputs.md 2.1.24: the address of the connection is checked.
// protocol-coverage.md 8.2
TEST_F(GuardedDialTest, ANameWithOnlyPrivateAddressesIsNeverDialled) {
  for (auto text : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "::1",
                    "::ffff:127.0.0.1", "fd00::1"}) {
    wrapped->answers = {{text}};
    auto x = dial("https://evil.example.com/");
    ASSERT_FALSE(x);
    EXPECT_EQ(x.error().code, ec::invalid_argument) << text;
  }
  EXPECT_EQ(wrapped->dialled.size(), 0u);
}

TEST_F(GuardedDialTest, OnlyThePublicOnesOfMixedAddressesAreDialled) {
  wrapped->answers = {{"127.0.0.1", "192.0.2.1", "8.8.8.8", "10.0.0.1"}};
  wrapped->detour = endpoint{ip_address::loopback_v4(), 1}; // Refuses.
  EXPECT_FALSE(dial("https://mixed.example.com/"));
  EXPECT_EQ(wrapped->dialled.pop(), *ip_address::parse("8.8.8.8"));
  EXPECT_EQ(wrapped->dialled.size(), 0u);
}

// DNS rebinding: the answer changes between two look-ups, and the check does
// not rely on the first one.
TEST_F(GuardedDialTest, ANameThatTurnsPrivateIsRefusedTheSecondTime) {
  wrapped->answers = {{"8.8.8.8"}, {"127.0.0.1"}};
  wrapped->detour = endpoint{ip_address::loopback_v4(), 1};
  auto first = dial("https://rebind.example.com/");
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ec::unreachable);
  EXPECT_EQ(wrapped->dialled.size(), 1u);
  auto second = dial("https://rebind.example.com/");
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ec::invalid_argument);
  EXPECT_EQ(wrapped->dialled.size(), 1u);
}

TEST_F(GuardedDialTest, TheConnectedAddressIsCheckedAgain) {
  inbox<std::string> received;
  scripted_server inside{[&](raw_peer& peer, size_t) {
    received.push(peer.read_all());
  }};
  wrapped->answers = {{"8.8.8.8"}};
  wrapped->detour = endpoint{ip_address::loopback_v4(), inside.port()};
  auto x = dial("https://detour.example.com/");
  ASSERT_FALSE(x);
  EXPECT_EQ(x.error().code, ec::invalid_argument);
  EXPECT_EQ(received.pop(), ""); // Not one byte was sent.
}

TEST_F(GuardedDialTest, EachAddressIsTriedInTurn) {
  scripted_server server{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  wrapped->answers = {{"127.0.0.2", "127.0.0.3", "127.0.0.1"}};
  auto url = "http://several.test:" + std::to_string(server.port()) + "/";
  auto x = dial(url, true); // It listens on 127.0.0.1 only.
  ASSERT_TRUE(x);
  EXPECT_EQ((*x)->remote().address, ip_address::loopback_v4());
  EXPECT_EQ(wrapped->dialled.size(), 3u);
}

TEST_F(GuardedDialTest, LocalhostNeedsNoNameServer) {
  scripted_server server{[](raw_peer& x, size_t) {
    x.wait_for_end();
  }};
  auto port = ":" + std::to_string(server.port());
  EXPECT_TRUE(dial("http://localhost" + port, true));
  EXPECT_TRUE(dial("http://pds.localhost" + port, true));
  EXPECT_FALSE(dial("http://localhost" + port));
  EXPECT_EQ(wrapped->look_ups, 0u);
}

TEST_F(GuardedDialTest, RedirectsPassTheGuardOnEveryHop) {
  scripted_server server{[](raw_peer& peer, size_t) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n"
              "Location: http://inside.test:1/\r\n\r\n");
  }};
  http_client_options options;
  options.guard = address_guard{true};
  auto client = make_http_client(wrapped, options);
  // Even with private addresses allowed, only addresses of one machine pass.
  for (auto bad : {"0.0.0.0", "224.0.0.1", "255.255.255.255", "ff02::1"}) {
    wrapped->answers = {{bad}};
    http_request x;
    x.target = *parse_url(server.origin());
    inbox<result<http_response>> got;
    client->get(x, [&got](result<http_response> y) {
      got.push(std::move(y));
    });
    auto end = got.pop();
    ASSERT_TRUE(end && !*end);
    EXPECT_EQ(end->error().code, ec::invalid_argument) << bad;
  }
}

} // namespace weir::net
