#include "net/limits.hpp"
#include "net/transport.hpp"
#include "tests/support/net_dns_server.hpp"
#include "tests/support/net_fixture.hpp"

#include <atomic>

namespace weir::net {

namespace {

using namespace tests;

class DnsResolverTest : public NetFixture {
protected:
  /// Uses the name server of the test from now on.
  void ask(const dns_server& server) {
    network = make_system_transport(threads, {{server.where()}, timeout});
  }

  static constexpr auto timeout = 300ms; // 3 s by default.

  result<std::vector<std::string>> addresses(const std::string& name) {
    inbox<result<std::vector<ip_address>>> done;
    network->resolve(threads.loop(0), name, [&done](auto x) {
      done.push(std::move(x));
    });
    auto x = done.pop();
    if (!x || !*x)
      return x ? x->error() : fail(ec::cancelled, "no answer");
    std::vector<std::string> out;
    for (auto& address : **x)
      out.push_back(to_string(address));
    return out;
  }

  result<std::vector<std::string>> texts(const std::string& name) {
    inbox<result<std::vector<std::string>>> done;
    network->resolve_txt(threads.loop(0), name, [&done](auto x) {
      done.push(std::move(x));
    });
    auto x = done.pop();
    return x ? *x : fail(ec::cancelled, "no answer");
  }
};

using list = std::vector<std::string>;

} // namespace

TEST_F(DnsResolverTest, AddressesOfBothFamiliesAreFoundIpv4First) {
  dns_server server{[](const std::string& name, uint16_t type) -> dns_answer {
    EXPECT_EQ(name, "pds.example.com");
    if (type == dns_server::type_aaaa)
      return {{dns_address("2001:4860::1")}};
    return {{dns_address("8.8.8.8"), dns_address("8.8.4.4")}};
  }};
  ask(server);
  auto got = addresses("pds.example.com");
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (list{"8.8.8.8", "8.8.4.4", "2001:4860::1"}));
}

// hostile-inputs.md 2.1.25: 8 answers used.
TEST_F(DnsResolverTest, AnswersAreBoundedAndLeaveRoomForBothFamilies) {
  dns_server server{[](const std::string&, uint16_t type) -> dns_answer {
    dns_answer x;
    for (int i = 1; i <= 12; ++i)
      x.records.push_back(type == dns_server::type_a
                            ? dns_address("8.8.8." + std::to_string(i))
                            : dns_address("2001:4860::" + std::to_string(i)));
    return x;
  }};
  ask(server);
  auto got = addresses("many.example.com");
  ASSERT_TRUE(got);
  ASSERT_EQ(got->size(), limits::dns_answers_max);
  EXPECT_EQ((*got)[3].substr(0, 6), "8.8.8.");
  EXPECT_EQ((*got)[4].substr(0, 6), "2001:4");
}

TEST_F(DnsResolverTest, NamesThatDoNotExistAreToldFromServersThatFail) {
  dns_server server{[](const std::string& name, uint16_t) -> dns_answer {
    if (name == "empty.example.com")
      return {};
    return {{}, static_cast<uint8_t>(name == "absent.example.com" ? 3 : 5)};
  }};
  ask(server);
  EXPECT_EQ(addresses("absent.example.com").error().code, ec::not_found);
  EXPECT_EQ(addresses("empty.example.com").error().code, ec::not_found);
  EXPECT_EQ(addresses("refused.example.com").error().code, ec::unreachable);
  EXPECT_EQ(texts("absent.example.com").error().code, ec::not_found);
  EXPECT_EQ(texts("refused.example.com").error().code, ec::unreachable);
}

TEST_F(DnsResolverTest, NoSearchDomainIsTried) {
  dns_server server{[](const std::string& name, uint16_t) -> dns_answer {
    EXPECT_EQ(name, "single");
    return {{}, 3};
  }};
  ask(server);
  EXPECT_EQ(addresses("single").error().code, ec::not_found);
}

// protocol-coverage.md 8.7: the TXT values of _atproto.<handle>.
TEST_F(DnsResolverTest, PartsOfATextAreJoinedAndTextsKeptApart) {
  dns_server server{[](const std::string& name, uint16_t type) -> dns_answer {
    EXPECT_EQ(name, "_atproto.alice.example.com");
    EXPECT_EQ(type, dns_server::type_txt);
    return {
      {dns_text({"did=did:plc:", "abc"}), dns_text({"other"}), dns_text({""})}};
  }};
  ask(server);
  auto got = texts("_atproto.alice.example.com");
  ASSERT_TRUE(got);
  EXPECT_EQ(*got, (list{"did=did:plc:abc", "other", ""}));
}

// RFC 7766: an answer that does not fit into a datagram comes over TCP.
// limits::dns_answer_bytes_max
TEST_F(DnsResolverTest, LongAnswersComeOverTcpUpToTheLimit) {
  // Header, question and the frame of one record of this name.
  const std::string name = "_atproto.long.example.com";
  const size_t overhead = 12 + (name.size() + 2 + 4) + (2 + 10);
  std::atomic<size_t> size = limits::dns_answer_bytes_max;
  dns_server server{[&](const std::string&, uint16_t) -> dns_answer {
    std::vector<std::string> parts;
    for (auto left = size - overhead; left > 0;) {
      const auto n = std::min<size_t>(left, 200);
      parts.emplace_back(n - 1, 'x');
      left -= n;
    }
    return {{dns_text(parts)}};
  }};
  ask(server);
  const auto got = texts(name);
  ASSERT_TRUE(got) << got.error().context;
  ASSERT_EQ(got->size(), 1u);
  EXPECT_GT(got->front().size(), 4'000u);
  EXPECT_EQ(server.questions(), 2u) << "one by UDP, one by TCP";
  ++size;
  const auto refused = texts(name);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ec::limit_reached);
}

// hostile-inputs.md 2.1.25: 3 s.
TEST_F(DnsResolverTest, ASilentServerIsGivenUpInTime) {
  dns_server server{[](const std::string&, uint16_t) -> dns_answer {
    return {{}, 0, true};
  }};
  ask(server);
  auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(addresses("silent.example.com").error().code, ec::unreachable);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20 * timeout);
  EXPECT_GE(server.questions(), 2u);
}

// limits::dns_timeout: c-ares asks twice, and ends a little before it.
TEST_F(DnsResolverTest, ASilentServerHasTheTimeOfTheEngine) {
  dns_server server{[](const std::string&, uint16_t) -> dns_answer {
    return {{}, 0, true};
  }};
  network = make_system_transport(threads, {{server.where()}});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(addresses("silent.example.com").error().code, ec::unreachable);
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GT(took, limits::dns_timeout / 2);
  EXPECT_LT(took, 2 * limits::dns_timeout);
}

TEST_F(DnsResolverTest, ALookUpThatIsSlowDoesNotHoldUpOthers) {
  dns_server server{[](const std::string& name, uint16_t type) -> dns_answer {
    if (name == "slow.example.com")
      return {{}, 0, true};
    if (type == dns_server::type_aaaa)
      return {};
    return {{dns_address("8.8.8.8")}};
  }};
  ask(server);
  inbox<bool> slow;
  network->resolve(threads.loop(0), "slow.example.com", [&slow](auto) {
    slow.push(true);
  });
  for (int i = 0; i < 20; ++i)
    EXPECT_TRUE(addresses(std::to_string(i) + ".example.com"));
  EXPECT_EQ(slow.size(), 0u);
  EXPECT_TRUE(slow.pop());
}

TEST_F(DnsResolverTest, LookUpsInFlightAreBounded) {
  dns_server server{[](const std::string&, uint16_t) -> dns_answer {
    return {{}, 0, true};
  }};
  ask(server);
  inbox<ec> ends;
  for (size_t i = 0; i <= limits::dns_queries_max; ++i)
    network->resolve_txt(threads.loop(0), "x.example.com", [&ends](auto x) {
      ends.push(x ? ec::none : x.error().code);
    });
  EXPECT_EQ(ends.pop(), ec::limit_reached);
  for (size_t i = 0; i < limits::dns_queries_max; ++i)
    ASSERT_EQ(ends.pop(), ec::unreachable);
}

TEST_F(DnsResolverTest, LookUpsUnderWayDoNotOutliveTheTransport) {
  dns_server server{[](const std::string&, uint16_t) -> dns_answer {
    return {{}, 0, true};
  }};
  ask(server);
  inbox<ec> ends;
  network->resolve(threads.loop(0), "x.example.com", [&ends](auto x) {
    ends.push(x ? ec::none : x.error().code);
  });
  settle();
  network.reset();
  EXPECT_EQ(ends.pop(), ec::unreachable);
}

} // namespace weir::net
