#include "actors/api/access.hpp"
#include "actors/api/channel_places.hpp"
#include "actors/api/limits.hpp"
#include "actors/api/page_request.hpp"
#include "base/log.hpp"
#include "tests/support/manual_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

// hostile-inputs.md 2.2: rules for clients, without actors and sockets; limits
// are tested at the limit and just above it.
namespace weir::tests {
namespace {

using namespace weir::actors;
using namespace std::chrono_literals;

// -- wrong passwords ----------------------------------------------------------

constexpr const char* right_one = "Basic YWRtaW46c2VjcmV0"; // admin:secret
constexpr const char* wrong_one = "Basic YWRtaW46d3Jvbmc=";

class AccessTest : public testing::Test {
protected:
  /// Whether a request is served, and whether its client is known by it.
  enum admission { turned_away, served_to_all, served_to_known };

  static admission admit(access_control& by, port on,
                         net::incoming_request x) {
    if (by.refuse(on, x))
      return turned_away;
    return x.open_to_all ? served_to_all : served_to_known;
  }

  static net::incoming_request probe_of(const char* path,
                                        const net::ip_address& peer) {
    net::incoming_request x;
    x.method = "GET";
    x.path = path;
    x.peer = peer;
    x.headers = {{"host", "localhost"}};
    return x;
  }

  int ask(const net::ip_address& peer, std::string_view credential) {
    net::incoming_request x;
    x.method = "GET";
    x.peer = peer;
    x.headers
      = {{"host", "localhost"}, {"authorization", std::string{credential}}};
    const auto refused = access.refuse(port::data, x);
    last_delay = refused ? refused->delay : 0us;
    return refused ? refused->status : 200;
  }

  int wrong(const net::ip_address& peer) {
    return ask(peer, wrong_one);
  }

  int right(const net::ip_address& peer) {
    return ask(peer, right_one);
  }

  static net::ip_address address(size_t i) {
    net::ip_address out;
    for (size_t at = 4; at-- > 0; i >>= 8)
      out.octets[at] = static_cast<uint8_t>(i);
    return out;
  }

  const net::ip_address elsewhere = address(0xc0000202); // 192.0.2.2
  manual_clock time;
  access_control access{{"secret", {}}, time};
  std::chrono::microseconds last_delay{0};
};

} // namespace

// Monitoring needs no password on the same machine, and elsewhere only if the
// operator permits it. A proxy on this machine speaks for any client.
TEST_F(AccessTest, ProbesAreOpenFromLoopbackAloneUnlessAskedFor) {
  const auto here = net::ip_address::loopback_v4();
  access_control open{{"secret", {}, true}, time};
  for (const auto* path : {"/livez", "/readyz"}) {
    const auto local = probe_of(path, here);
    auto passed_on = local;
    passed_on.headers.push_back({"x-forwarded-for", "192.0.2.1"});
    const auto remote = probe_of(path, elsewhere);
    for (const auto on : {port::data, port::operations}) {
      EXPECT_EQ(admit(access, on, local), served_to_all) << path;
      EXPECT_EQ(admit(access, on, passed_on), turned_away) << path;
      EXPECT_EQ(admit(access, on, remote), turned_away) << path;
      EXPECT_EQ(admit(open, on, local), served_to_all) << path;
    }
    for (const auto& x : {passed_on, remote}) {
      EXPECT_EQ(admit(open, port::operations, x), served_to_all) << path;
      EXPECT_EQ(admit(open, port::data, x), turned_away) << path;
    }
  }
  EXPECT_EQ(admit(open, port::operations, probe_of("/status", here)),
            turned_away);
}

// hostile-inputs.md 2.2.9: who asks what anybody may ask stays a stranger. If a
// password with it counted, who guesses could see without any delay which one
// is right.
TEST_F(AccessTest, OnlyAPasswordThatIsNeededMakesAClientKnown) {
  const auto with = [](net::incoming_request x, const char* credential) {
    x.headers.push_back({"authorization", credential});
    return x;
  };
  const auto probe = probe_of("/livez", elsewhere);
  access_control open{{"secret", {}, true}, time};
  for (const auto* credential : {right_one, wrong_one})
    for (size_t i = 0; i <= limits::auth_failures_max; ++i)
      EXPECT_EQ(admit(open, port::operations, with(probe, credential)),
                served_to_all)
        << credential << i;
  for (const auto on : {port::data, port::operations}) {
    EXPECT_EQ(admit(access, on, with(probe, right_one)), served_to_known);
    EXPECT_EQ(admit(access, on, with(probe, wrong_one)), turned_away);
  }
  EXPECT_EQ(admit(open, port::data, with(probe, right_one)), served_to_known);
  EXPECT_EQ(admit(open, port::operations,
                  with(probe_of("/status", elsewhere), right_one)),
            served_to_known);
  access_control without_password{{"", {}, true}, time};
  EXPECT_EQ(admit(without_password, port::operations, probe), served_to_known);
}

// limits::auth_failures_max, limits::auth_lock, limits::auth_failure_delay
TEST_F(AccessTest, WhoGuessesTooOftenWaitsAndNobodyElse) {
  const auto peer = address(1);
  for (size_t i = 0; i < limits::auth_failures_max; ++i)
    EXPECT_EQ(wrong(peer), 401);
  EXPECT_EQ(last_delay, 0us);
  EXPECT_EQ(wrong(peer), 429);
  EXPECT_EQ(last_delay, limits::auth_failure_delay);
  EXPECT_EQ(right(peer), 200) << "of the same address";
  EXPECT_EQ(wrong(address(2)), 401);
  time.advance(limits::auth_lock);
  EXPECT_EQ(wrong(peer), 429);
  time.advance(1us);
  EXPECT_EQ(wrong(peer), 401);
}

// limits::auth_lines_max: each address once in a while, and not too many
TEST_F(AccessTest, TheLogNamesSoManyAddressesWithWrongPasswords) {
  log::configure(log::level::warn, log::format::text);
  testing::internal::CaptureStderr();
  const auto flood = [this] {
    for (int again = 0; again < 2; ++again)
      for (size_t i = 1; i <= limits::auth_lines_max + 1; ++i)
        wrong(address(i));
  };
  flood();
  time.advance(limits::auth_lock + 1us);
  flood();
  const auto lines = testing::internal::GetCapturedStderr();
  log::configure(log::level::off, log::format::text);
  const auto times = [&](const std::string& text) {
    size_t out = 0;
    for (auto i = lines.find(text); i != std::string::npos;
         i = lines.find(text, i + 1))
      ++out;
    return out;
  };
  EXPECT_EQ(times("wrong_password"), 2 * limits::auth_lines_max) << lines;
  EXPECT_EQ(times("peer=0.0.0.1\n"), 2u) << lines;
  EXPECT_EQ(times("no further addresses are named"), 2u) << lines;
}

// limits::auth_peers_max
TEST_F(AccessTest, SoManyAddressesAreRememberedThenCountingStartsAnew) {
  for (const bool one_more : {false, true}) {
    SCOPED_TRACE(one_more);
    for (size_t i = 0; i < limits::auth_failures_max; ++i)
      EXPECT_EQ(wrong(address(1)), 401) << i;
    for (size_t i = 2; i <= limits::auth_peers_max + one_more; ++i)
      wrong(address(i));
    EXPECT_EQ(wrong(address(1)), one_more ? 401 : 429);
    time.advance(limits::auth_lock + 1us);
  }
}

// hostile-inputs.md 2.2.1: what a browser sends after a name was pointed here
TEST_F(AccessTest, AHostIsANameOfTheNodeWithAPortOrWithoutOne) {
  access_control named{{"", {"Weir.test"}}, time};
  const auto status_of = [&named](const char* host) {
    net::incoming_request x;
    x.headers = {{"host", host}};
    const auto refused = named.refuse(port::data, x);
    return refused ? refused->status : 200;
  };
  for (const auto* host : {"localhost", "localhost:", "LOCALHOST.", "[::1]",
                           "[::1]:1", "127.0.0.1:2480", "weir.test:80"})
    EXPECT_EQ(status_of(host), 200) << host;
  for (const auto* host : {"", ":80", "[::1", "[::1]x:1", "localhost:0",
                           "localhost:x", "other.test", "10.0.0.1"})
    EXPECT_EQ(status_of(host), 403) << host;
}

// hostile-inputs.md 2.2.4
TEST_F(AccessTest, PagesOfOtherOriginsAreRefused) {
  access_control open{{}, time};
  const auto status_of = [&open](const char* name, const char* value) {
    net::incoming_request x;
    x.headers = {{"host", "localhost"}, {name, value}};
    const auto refused = open.refuse(port::data, x);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(status_of("origin", "https://localhost"), 200);
  EXPECT_EQ(status_of("origin", "http://localhost:1"), 403);
  EXPECT_EQ(status_of("origin", "null"), 403);
  EXPECT_EQ(status_of("sec-fetch-site", "same-origin"), 200);
  EXPECT_EQ(status_of("sec-fetch-site", "cross-site"), 403);
  EXPECT_EQ(status_of("referer", "http://localhost/x"), 200);
  EXPECT_EQ(status_of("referer", "http://localhost.other.test/"), 403);
  EXPECT_EQ(status_of("referer", "http://other.test/"), 403);
}

TEST_F(AccessTest, APasswordComesWithItsScheme) {
  EXPECT_EQ(ask(address(1), "basic YWRtaW46c2VjcmV0"), 200);
  EXPECT_EQ(ask(address(1), "Bearer YWRtaW46c2VjcmV0"), 401);
  EXPECT_EQ(ask(address(1), "YWRtaW46c2VjcmV0"), 401);
  access.set_password("another");
  EXPECT_EQ(right(address(1)), 401);
}

TEST(ContentTypeTest, APostIsUncompressedJson) {
  const auto status_of = [](net::http_headers headers) {
    net::incoming_request x;
    x.headers = std::move(headers);
    const auto refused = refuse_content_type(x);
    return refused ? refused->status : 200;
  };
  EXPECT_EQ(status_of({}), 415);
  EXPECT_EQ(status_of({{"content-type", "text/plain"}}), 415);
  EXPECT_EQ(status_of({{"content-type", "Application/JSON ; charset=utf-8"}}),
            200);
  EXPECT_EQ(status_of({{"content-type", "application/json"},
                       {"content-encoding", "identity"}}),
            200);
  EXPECT_EQ(status_of({{"content-type", "application/json"},
                       {"content-encoding", "gzip"}}),
            415);
}

// -- pages --------------------------------------------------------------------

TEST(PageTest, APageHasItsStandardSizeUnlessTheRequestSays) {
  const auto limit_of = [](const char* text) {
    net::incoming_request x;
    if (*text != '\0')
      x.query = {{"limit", text}};
    const auto page = parse_page(x);
    return page ? page->limit : 0;
  };
  EXPECT_EQ(limit_of(""), limits::api_page_default);
  EXPECT_EQ(limit_of("1"), 1u);
  EXPECT_EQ(limit_of("0"), 0u);
  EXPECT_EQ(limit_of(std::to_string(limits::api_page_max).c_str()),
            limits::api_page_max);
  EXPECT_EQ(limit_of(std::to_string(limits::api_page_max + 1).c_str()), 0u);
}

TEST(PageTest, ACursorHasTheFormOfItsOrder) {
  const auto page_after = [](const std::string& cursor, page_order order) {
    net::incoming_request x;
    x.query = {{"cursor", cursor}};
    return parse_page(x, order);
  };
  const auto repo = atproto::did::parse("did:plc:" + std::string(24, 'a'));
  ASSERT_TRUE(repo);
  const auto by_did = page_after(repo->str(), page_order::did);
  ASSERT_TRUE(by_did);
  EXPECT_EQ(by_did->after, *repo);
  const auto by_retry = page_after(retry_cursor(12, *repo), page_order::retry);
  ASSERT_TRUE(by_retry);
  EXPECT_EQ(by_retry->after, *repo);
  EXPECT_EQ(by_retry->after_due, 12u);
  const auto by_id = page_after("7", page_order::id);
  ASSERT_TRUE(by_id);
  EXPECT_EQ(by_id->after_id, 7u);
  EXPECT_FALSE(page_after("x", page_order::did));
  EXPECT_FALSE(page_after("x", page_order::id));
  EXPECT_FALSE(page_after("12", page_order::retry));
  EXPECT_FALSE(page_after(repo->str(), page_order::retry));
}

// -- channels -----------------------------------------------------------------

namespace {

/// A place, or the error code.
struct taken {
  channel_places::place_ptr place;
  ec code = ec::none;
};

taken take(channel_places& from, uint8_t address) {
  net::ip_address peer = net::ip_address::loopback_v4();
  peer.octets[3] = address;
  auto x = from.take(peer);
  return x ? taken{std::move(*x), ec::none} : taken{nullptr, x.error().code};
}

} // namespace

TEST(ChannelPlacesTest, AnAddressHasSoManyAndNotOneMore) {
  const auto places = std::make_shared<channel_places>();
  std::vector<taken> held;
  for (size_t i = 0; i < limits::channels_per_address_max; ++i) {
    held.push_back(take(*places, 1));
    EXPECT_TRUE(held.back().place) << i;
  }
  EXPECT_EQ(take(*places, 1).code, ec::rate_limited);
  EXPECT_EQ(take(*places, 2).code, ec::none);
  held.pop_back();
  EXPECT_EQ(take(*places, 1).code, ec::none);
}

TEST(ChannelPlacesTest, ThereAreSoManyAndNotOneMore) {
  const auto places = std::make_shared<channel_places>();
  std::vector<taken> held;
  for (size_t i = 0; i < limits::channels_max; ++i) {
    held.push_back(take(
      *places, static_cast<uint8_t>(i / limits::channels_per_address_max)));
    EXPECT_TRUE(held.back().place) << i;
  }
  EXPECT_EQ(take(*places, 200).code, ec::limit_reached);
  held.erase(held.begin());
  EXPECT_EQ(take(*places, 200).code, ec::none);
}

TEST(ChannelPlacesTest, APlaceMayOutliveWhoGaveIt) {
  auto places = std::make_shared<channel_places>();
  const auto held = take(*places, 1);
  places.reset();
  EXPECT_TRUE(held.place);
}

} // namespace weir::tests
