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

net::ws_client_options options_for(const scripted_server& server) {
  net::ws_client_options out;
  out.guard = net::address_guard{true};
  out.target
    = *net::parse_url("ws://127.0.0.1:" + std::to_string(server.port()) + "/");
  return out;
}

/// Lets a peer send frames when the client is ready for them.
scripted_server::script_type sender_of(const bytes& frames, std::latch& ready) {
  return [&](raw_peer& socket, size_t) {
    ws_peer::accept(socket);
    ready.wait();
    socket.send(frames);
    socket.wait_for_end();
  };
}

constexpr std::string_view copied_mark
  = "bytes that occur once, in the message";

/// A message with the mark at `offset`.
bytes marked_message(size_t size, size_t offset) {
  bytes out(size, 'm');
  std::ranges::copy(as_bytes(copied_mark), &out[offset]);
  return out;
}

/// `message` in fragments of this size; all of it divides by it.
bytes in_fragments(bytes_view message, size_t size) {
  bytes out;
  for (size_t at = 0; at < message.size(); at += size) {
    auto frame = net::ws_frame(at == 0 ? net::ws_opcode::binary
                                       : net::ws_opcode::continuation,
                               message.subspan(at, size));
    if (at + size < message.size())
      frame[0] &= 0x7f;
    out.insert(out.end(), frame.begin(), frame.end());
  }
  return out;
}

class FrameCopiesTest : public NetFixture {
protected:
  /// The blocks of memory that have held the mark when a client has handed over
  /// the message of these frames.
  size_t blocks_that_held_the_mark(const bytes& frames, const bytes& message) {
    std::latch ready{1};
    const scripted_server server{sender_of(frames, ready)};
    const auto listener = std::make_shared<frame_listener>();
    const large_blocks blocks{1'000, copied_mark};
    const auto client
      = net::make_ws_client(network, options_for(server), listener);
    EXPECT_TRUE(listener->opened.pop());
    client->grant(enough, enough);
    ready.count_down();
    const auto got = listener->frames.pop();
    EXPECT_TRUE(got && std::ranges::equal(got->view(), message));
    return blocks.count_marked();
  }
};

} // namespace

// A large frame is read from the socket into its own buffer.
TEST_F(FrameCopiesTest, AFrameIsCopiedOnceFromTheSocket) {
  const bytes sent(frame_bytes, 'f');
  const auto wire = net::ws_frame(net::ws_opcode::binary, sent);
  std::latch counting{1};
  const scripted_server server{sender_of(wire, counting)};
  const auto listener = std::make_shared<frame_listener>();
  const auto client
    = net::make_ws_client(network, options_for(server), listener);
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

// Nothing but its first and last part is ever in another block than its own.
TEST_F(FrameCopiesTest, TheMiddleOfALargeFrameIsInOneBlockOnly) {
  const auto message = marked_message(frame_bytes, frame_bytes / 2);
  EXPECT_EQ(blocks_that_held_the_mark(
              net::ws_frame(net::ws_opcode::binary, message), message),
            1u);
}

// Small frames come many with one read, into the reader's buffer, and each is
// copied from there into a buffer of its own: the first of the two copies of
// its records.
TEST_F(FrameCopiesTest, ASmallFrameIsCopiedOnceOutOfTheReadersBuffer) {
  const auto message = marked_message(4'000, 2'000);
  EXPECT_EQ(blocks_that_held_the_mark(
              net::ws_frame(net::ws_opcode::binary, message), message),
            2u);
}

// The buffer of a message in fragments doubles when it is full, because nobody
// says how long the message will be: 1,000, 2,000 and 4,000 bytes here.
TEST_F(FrameCopiesTest, TheStartOfAMessageInFragmentsIsCopiedAsItGrows) {
  const auto message = marked_message(4'000, 500);
  EXPECT_EQ(blocks_that_held_the_mark(in_fragments(message, 1'000), message),
            4u);
}

TEST_F(FrameCopiesTest, TheEndOfAMessageInFragmentsIsCopiedLikeASmallFrame) {
  const auto message = marked_message(4'000, 3'500);
  EXPECT_EQ(blocks_that_held_the_mark(in_fragments(message, 1'000), message),
            2u);
}

} // namespace weir::tests
