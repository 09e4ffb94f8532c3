#include "actors/api/access.hpp"
#include "actors/api/answers.hpp"
#include "actors/api/api.hpp"
#include "actors/api/channel.hpp"
#include "actors/api/limits.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
#include "base/log.hpp"
#include "messages/consumer.hpp"
#include "net/ws_codec.hpp"
#include "tests/support/net_memory.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// hostile-inputs.md 2.2: limits of clients, tested at the limit and just above
// it.
namespace weir::tests {
namespace {

using namespace weir::actors;

// -- wrong passwords ----------------------------------------------------------

class AccessTest : public testing::Test {
protected:
  int ask(const net::ip_address& peer, std::string_view credential) {
    net::incoming_request x;
    x.method = "GET";
    x.peer = peer;
    x.headers
      = {{"host", "localhost"}, {"authorization", std::string{credential}}};
    const auto refused = access.refuse(x);
    last_delay = refused ? refused->delay : 0us;
    return refused ? refused->status : 200;
  }

  int wrong(const net::ip_address& peer) {
    return ask(peer, "Basic YWRtaW46d3Jvbmc=");
  }

  int right(const net::ip_address& peer) {
    return ask(peer, "Basic YWRtaW46c2VjcmV0"); // admin:secret
  }

  static net::ip_address address(size_t i) {
    net::ip_address out;
    for (size_t at = 4; at-- > 0; i >>= 8)
      out.octets[at] = static_cast<uint8_t>(i);
    return out;
  }

  manual_clock time;
  access_control access{{"secret", {}}, time};
  std::chrono::microseconds last_delay{0};
};

} // namespace

// Monitoring needs no password on the same machine, and elsewhere only if the
// operator permits it. A proxy on this machine speaks for any client.
TEST_F(AccessTest, ProbesAreOpenFromLoopbackAloneUnlessAskedFor) {
  const auto probe = [&](access_control& of, const std::string& path,
                         const net::ip_address& peer, bool passed_on) {
    net::incoming_request x;
    x.method = "GET";
    x.path = path;
    x.peer = peer;
    x.headers = {{"host", "localhost"}};
    if (passed_on)
      x.headers.push_back({"x-forwarded-for", "192.0.2.1"});
    const auto refused = of.refuse(x);
    return refused ? refused->status : 200;
  };
  const auto here = net::ip_address::loopback_v4();
  const auto elsewhere = address(0xc0000202); // 192.0.2.2
  access_control open{{"secret", {}, true}, time};
  for (const auto* path : {"/livez", "/readyz"}) {
    EXPECT_EQ(probe(access, path, here, false), 200) << path;
    EXPECT_EQ(probe(access, path, here, true), 401) << path;
    EXPECT_EQ(probe(access, path, elsewhere, false), 401) << path;
    EXPECT_EQ(probe(open, path, elsewhere, false), 200) << path;
  }
  EXPECT_EQ(probe(open, "/status", here, false), 401);
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

namespace {

/// Opens every upgrade as a channel.
class channel_service final : public net::http_service {
public:
  channel_service(context_ptr shared, channel_places& places)
    : shared_(std::move(shared)), places_(places) {
    // nop
  }

  void on_request(net::incoming_request, net::responder answer) override {
    answer.cut();
  }

  void on_upgrade(net::incoming_request x, net::upgrader answer) override {
    open_channel(*shared_, answer, *places_.take(x.peer));
  }

private:
  context_ptr shared_;
  channel_places& places_;
};

class ChannelBoundsTest : public ShellFixture {
protected:
  ChannelBoundsTest() {
    home->consumer = consumer.as<consumer_actor>();
    server = *net::make_http_server(
      network, std::make_shared<channel_service>(shared, *places), {});
    peer = network->connect();
    peer->feed("GET /channel HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
               "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
               "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    EXPECT_TRUE(peer->take().starts_with("HTTP/1.1 101 "));
    run();
    const auto opened = consumer.take<channel_opened>();
    EXPECT_EQ(opened.size(), 1u);
    if (!opened.empty()) {
      channel = opened[0].channel;
      acks = opened[0].acks;
    }
  }

  ~ChannelBoundsTest() override {
    channel.reset();
    server.reset();
    network->loop.run();
  }

  size_t closed() {
    run();
    return consumer.count<channel_closed>();
  }

  std::shared_ptr<channel_places> places
    = std::make_shared<channel_places>(1, 1);
  std::shared_ptr<memory_transport> network
    = std::make_shared<memory_transport>();
  probe consumer{sys};
  std::shared_ptr<net::http_server> server;
  memory_stream_ptr peer;
  std::shared_ptr<event_channel> channel;
  std::shared_ptr<ack_inbox> acks;
};

// -- bodies of requests -------------------------------------------------------

class RequestBytesTest : public ShellFixture {
protected:
  RequestBytesTest() {
    api_environment env;
    env.shared = shared;
    env.request_bytes_max = 1'000;
    faces = make_api(sys, std::move(env), access);
    keep(caf::actor_cast<caf::actor>(faces.actor));
  }

  /// The status with which the head is refused, or that of the `body` after it.
  int ask(net::incoming_request& head, std::string_view body) {
    head.method = "POST";
    head.path = "/repos/add";
    head.headers = {{"host", "localhost"},
                    {"content-type", "application/json"}};
    auto refused = faces.data->on_head(head);
    if (!refused)
      refused = head.sink->put(as_bytes(body));
    return refused ? refused->status : 200;
  }

  std::shared_ptr<access_control> access
    = std::make_shared<access_control>(access_options{}, time);
  api faces;
};

} // namespace

// limits::channel_acks_per_second_max
TEST_F(ChannelBoundsTest, SoManyAcksASecondAreTakenTheRestWaits) {
  constexpr auto many
    = static_cast<size_t>(limits::channel_acks_per_second_max);
  const auto ack
    = net::ws_frame(net::ws_opcode::text, as_bytes(R"({"type":"ack","id":1})"),
                    {{1, 2, 3, 4}});
  bytes wire;
  for (size_t i = 0; i <= many; ++i)
    wire.insert(wire.end(), ack.begin(), ack.end());
  peer->feed(wire);
  run();
  EXPECT_EQ(acks->take(false).events.size(), many);
  EXPECT_EQ(consumer.count<acks_waiting>(), 1u);
  network->loop.advance(1'000'000us / many + 1us);
  run();
  EXPECT_EQ(acks->take(false).events, std::vector<uint64_t>{1});
  EXPECT_EQ(consumer.count<acks_waiting>(), 1u);
}

// limits::channel_stall_timeout: a handler may be slow for a minute or two
TEST_F(ChannelBoundsTest, AClientThatTakesNothingIsCutAfterItsTime) {
  peer->set_room(0);
  ASSERT_TRUE(channel->send("{}"));
  const auto pong = net::ws_frame(net::ws_opcode::pong, {}, {{1, 2, 3, 4}});
  for (auto left = limits::channel_stall_timeout - 1us; left > 0us;) {
    const auto step = std::min<std::chrono::microseconds>(left, 1min);
    peer->feed(pong); // The peer is alive but does not read.
    network->loop.advance(step);
    left -= step;
  }
  EXPECT_EQ(closed(), 0u);
  network->loop.advance(1us);
  EXPECT_EQ(closed(), 1u);
  EXPECT_TRUE(peer->closed());
}

TEST_F(ChannelBoundsTest, ItsPlaceIsFreeWhenItIsOver) {
  const auto peer_address = net::ip_address::loopback_v4();
  EXPECT_FALSE(places->take(peer_address));
  channel->cut();
  network->loop.run();
  EXPECT_EQ(closed(), 1u);
  EXPECT_TRUE(places->take(peer_address));
}

// architecture.md, When memory runs short: the bodies of all requests share one
// limit.
TEST_F(RequestBytesTest, BodiesKeepSoManyBytesTogetherAndNotOneMore) {
  const std::string one = R"({"dids":["did:web:a.example.com")";
  net::incoming_request first;
  EXPECT_EQ(ask(first, one), 200);
  const auto share = shared->memory->held(memory_use::requests);
  ASSERT_GT(share, one.size());
  std::vector<net::incoming_request> more(1'000 / share - 1);
  for (auto& x : more)
    EXPECT_EQ(ask(x, one), 200);
  net::incoming_request last;
  EXPECT_EQ(ask(last, one), 503);
  last = {};
  first = {};
  EXPECT_EQ(ask(last, one), 200);
  last = {};
  more.clear();
  EXPECT_EQ(shared->memory->total(), 0u);
}

// Bodies that are announced and never come, and those without a request, take
// no memory.
TEST_F(RequestBytesTest, WhatIsNotKeptCostsNothing) {
  std::vector<net::incoming_request> silent(100);
  for (auto& x : silent)
    EXPECT_EQ(ask(x, ""), 200);
  for (auto& x : silent)
    EXPECT_EQ(ask(x, R"({"x":[")" + std::string(10'000, 'x')), 200);
  EXPECT_EQ(shared->memory->total(), 0u);
}

TEST_F(RequestBytesTest, WithoutMemoryNoBodyIsRead) {
  net::incoming_request x;
  shared->intake.set(shortage::memory, intake_level::no_reading, "little");
  EXPECT_EQ(ask(x, "{"), 200);
  shared->intake.set(shortage::memory, intake_level::no_requests, "none");
  EXPECT_EQ(ask(x, "{"), 503);
}

} // namespace weir::tests
