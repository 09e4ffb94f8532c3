#include "actors/api/limits.hpp"
#include "tests/system/api_node.hpp"

namespace weir::tests {

namespace {

/// Channels of one node that are kept open.
class open_channels {
public:
  explicit open_channels(const api_node& node) : node_(node) {
    // nop
  }

  /// Requests one more channel from this address. Returns the answer to the
  /// upgrade, which is empty when there was none.
  std::string open(size_t address) {
    const auto from = "127.0.3." + std::to_string(address + 1);
    auto socket = raw_peer::dial(node_.data, from.c_str());
    socket.send("GET /channel HTTP/1.1\r\nHost: localhost\r\n"
                "Upgrade: websocket\r\nConnection: Upgrade\r\n"
                "Sec-WebSocket-Version: 13\r\n"
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
    auto answer = socket.read_until("\r\n\r\n");
    if (answer.starts_with("HTTP/1.1 101 "))
      held_.push_back(std::move(socket));
    return answer;
  }

  void close_one() { held_.pop_back(); }

private:
  const api_node& node_;
  std::vector<raw_peer> held_;
};

} // namespace

// hostile-inputs.md 2.2.7: limits on channels of one address and of all. A
// client above them is cut off without an answer, so that it tries again
// (api.md, GET /channel).
TEST(ChannelLimitsTest, ChannelsAreBoundedOfOneAddressAndInAll) {
  const api_node node{false};
  open_channels channels{node};
  size_t open = 0;
  for (size_t address = 0; open < limits::channels_max; ++address) {
    for (size_t i = 0;
         i < limits::channels_per_address_max && open < limits::channels_max;
         ++i, ++open)
      ASSERT_TRUE(channels.open(address).starts_with("HTTP/1.1 101 ")) << open;
    if (address == 0) {
      EXPECT_EQ(channels.open(0), "");
    }
  }
  EXPECT_EQ(channels.open(100), "");
  plain_request numbers;
  numbers.path = "/metrics";
  const auto told = node.ask(node.operations, numbers).body;
  EXPECT_NE(told.find("weir_channels_refused_total 2"), std::string::npos);
  plain_request health;
  health.path = "/health";
  EXPECT_EQ(node.ask(node.data, health).status, 200);

  // A closed channel makes room; the node learns of it a moment later.
  channels.close_one();
  std::string again;
  for (int tries = 0; tries < 1'000 && !again.starts_with("HTTP/1.1 101 ");
       ++tries)
    again = channels.open(100);
  EXPECT_TRUE(again.starts_with("HTTP/1.1 101 ")) << again;
}

} // namespace weir::tests
