#include "actors/api/access.hpp"
#include "actors/api/api.hpp"
#include "actors/api/channel.hpp"
#include "actors/api/limits.hpp"
#include "actors/support/ack_inbox.hpp"
#include "actors/support/event_channel.hpp"
#include "messages/consumer.hpp"
#include "net/ws_codec.hpp"
#include "tests/support/net_memory.hpp"
#include "tests/unit/actors/shell_fixture.hpp"

// hostile-inputs.md 2.2: limits of clients, tested at the limit and just above
// it.
namespace weir::tests {
namespace {

using namespace weir::actors;

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
