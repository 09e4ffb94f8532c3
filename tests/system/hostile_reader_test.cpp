#include "base/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

namespace weir::tests {

namespace {

/// A client that asks for events and never reads one.
class silent_reader {
public:
  explicit silent_reader(uint16_t port)
    : socket_(raw_peer::dial(port, nullptr, 4'096)) {
    const auto channel = ws_peer::ask(socket_, "/channel", "localhost");
    EXPECT_TRUE(channel.answer.starts_with("HTTP/1.1 101 "));
  }

private:
  raw_peer socket_;
};

} // namespace

// reliability.md 2.2, slow reader; P10: clients that never read cost the window
// of the one consumer and no more, however much they miss, and intake goes on.
// limits::consumer_bytes_max
TEST(HostileReaderTest, ClientsThatNeverReadCostAWindowAndNoMore) {
  constexpr size_t commits = 150;
  constexpr size_t record_bytes = 900'000;
  hostile_stream stream;
  hostile_host hub;
  hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  test_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  hub.publish_and_serve(repo);
  hostile_node node{{"relay:" + hub.url()}, hub.url()};
  node.add({repo.did()});
  node.await(repo.did(), "synced");
  std::vector<silent_reader> readers;
  for (size_t i = 0; i < limits::channels_per_address_max; ++i)
    readers.emplace_back(node.data_port());
  const auto before = node.resident_bytes();
  const auto take_in = [&] {
    for (size_t i = 0; i < commits; ++i) {
      repo.put("app.test.note/a",
               make_record(std::string(record_bytes, 'x') + std::to_string(i)));
      ASSERT_TRUE(stream.send(repo.commit()));
    }
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node.repo(repo.did()).rev == repo.rev().str();
    }));
  };
  take_in(); // Fills window, caches and tables.
  const auto full = node.peak_bytes();
  EXPECT_LT(full, before + 256 * megabyte + memory_slack);
  take_in();
  take_in();
  constexpr auto missed_since = 2 * commits * record_bytes;
  EXPECT_LE(node.metric("weir_consumer_inflight"),
            limits::consumer_bytes_max / record_bytes + 1);
  EXPECT_GE(node.metric("weir_consumer_backlog_events"), 3 * commits);
  EXPECT_TRUE(node.is_healthy());
  // What one reader alone missed would already be four times as much.
  EXPECT_LT(node.peak_bytes(), full + missed_since / 4 + memory_slack);
}

} // namespace weir::tests
