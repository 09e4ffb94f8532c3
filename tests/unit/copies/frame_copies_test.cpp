#include "net/ws_client.hpp"
#include "tests/support/net_fixture.hpp"
#include "tests/support/net_scripted_server.hpp"
#include "tests/support/net_ws_peer.hpp"
#include "tests/unit/copies/large_blocks.hpp"

#include <algorithm>
#include <latch>

namespace weir::tests {

namespace {

constexpr size_t frame_bytes = 700'000;
constexpr size_t enough = 100'000'000;

class frame_listener final : public net::ws_listener {
public:
  void on_open() override { opened.push(true); }

  void on_frames(std::vector<shared_bytes> x) override {
    for (auto& each : x)
      frames.push(std::move(each));
  }

  void on_close(const net::ws_close_info&) override {}

  inbox<bool> opened;
  inbox<shared_bytes> frames;
};

class FrameCopiesTest : public NetFixture {};

} // namespace

// The first of the two copies of a record: from the socket into its frame.
TEST_F(FrameCopiesTest, AFrameIsCopiedOnceFromTheSocket) {
  const bytes sent(frame_bytes, 'f');
  const auto wire = net::ws_frame(net::ws_opcode::binary, sent);
  std::latch counting{1};
  const scripted_server server{[&](raw_peer& socket, size_t) {
    ws_peer::accept(socket);
    counting.wait();
    socket.send(wire);
    socket.wait_for_end();
  }};
  net::ws_client_options options;
  options.guard = net::address_guard{true};
  options.target
    = *net::parse_url("ws://127.0.0.1:" + std::to_string(server.port()) + "/");
  const auto listener = std::make_shared<frame_listener>();
  const auto client = net::make_ws_client(network, options, listener);
  ASSERT_TRUE(listener->opened.pop());
  client->grant(enough, enough);
  std::optional<shared_bytes> got;
  size_t copies = 0;
  {
    const large_blocks blocks{frame_bytes};
    counting.count_down();
    got = listener->frames.pop();
    copies = blocks.count();
  }
  ASSERT_TRUE(got);
  EXPECT_TRUE(std::ranges::equal(got->view(), sent));
  EXPECT_EQ(copies, 1u);
}

} // namespace weir::tests
