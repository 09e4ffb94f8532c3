#include "actors/api/limits.hpp"
#include "actors/consumer/limits.hpp"
#include "actors/node/limits.hpp"
#include "actors/support/limits.hpp"
#include "actors/upstream/limits.hpp"
#include "storage/log/limits.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"

namespace weir::tests {

namespace {

/// A client that opens a channel and never reads.
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

class HostileReaderTest : public testing::Test {
protected:
  /// Clients that never read miss two gigabytes of records of this size.
  void miss(size_t record_bytes) {
    hostile_stream stream;
    hostile_host hub;
    live_repo repo{1};
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
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
    const auto commits = missed_bytes / record_bytes;
    for (size_t i = 0; i < commits; ++i) {
      repo.put("app.test.note/a",
               make_record(std::string(record_bytes, 'x') + std::to_string(i)));
      ASSERT_TRUE(stream.send(repo.commit()));
    }
    EXPECT_TRUE(eventually(node_patience, [&] {
      return node.repo(repo.did()).rev == repo.rev().str();
    }));
    // Adds one for the identity event at the front, which has a few bytes.
    EXPECT_LE(node.metric("weir_consumer_inflight"),
              limits::consumer_bytes_max / record_bytes + 1 + 1);
    EXPECT_GE(node.metric("weir_consumer_backlog_events"), commits);
    EXPECT_TRUE(node.is_healthy());
    EXPECT_LT(node.peak_bytes(), before + kept + passing + memory_slack);
  }

private:
  static constexpr size_t missed_bytes = 2'160'000'000;
  // All buffers and caches may be full at once. The rest is for batches,
  // compaction, and freed memory in pieces.
  static constexpr auto kept = 2 * limits::write_buffer_bytes_max
                               + limits::block_cache_bytes_max
                               + limits::tail_cache_bytes_max;
  static constexpr auto passing
    = limits::consumer_bytes_max + limits::upstream_bytes_max + 64 * megabyte;
};

} // namespace

// hostile-inputs.md 2.2.8: clients that never read cost only the window of the
// one consumer, however much they miss, and frames are still taken in.
// limits::consumer_bytes_max
TEST_F(HostileReaderTest, ClientsThatNeverReadCostAWindowAndNoMore) {
  miss(900'000);
}

// The same bound for smaller records. Memory for records of all three sizes is
// in the heaps of threads, and stays there when it is freed.
TEST_F(HostileReaderTest, RecordsOfHalfAMegabyteKeepTheBound) {
  miss(500'000);
}

TEST_F(HostileReaderTest, RecordsOfAnEighthOfAMegabyteKeepIt) {
  miss(125'000);
}

// A message that is not an ack acknowledges nothing, and the log says why.
TEST_F(HostileReaderTest, MessagesThatAreNoAcksAreCountedAndNamed) {
  hostile_host directory;
  hostile_node node{{}, directory.url(), {"--mode", "manual"}};
  raw_peer socket = raw_peer::dial(node.data_port(), nullptr, 4'096);
  auto channel = ws_peer::ask(socket, "/channel", "localhost");
  ASSERT_TRUE(channel.answer.starts_with("HTTP/1.1 101 "));
  ASSERT_TRUE(channel.send_text(R"({"type":"ack","id":"7"})"));
  ASSERT_TRUE(node.await_metric("weir_consumer_bad_acks_total", 1));
  ASSERT_TRUE(channel.send_text(R"({"type":"nack","id":7})"));
  ASSERT_TRUE(channel.send_text("7"));
  ASSERT_TRUE(node.await_metric("weir_consumer_bad_acks_total", 3));
  const auto log = node.log();
  const auto line = log.find(R"("event":"bad_ack")");
  ASSERT_NE(line, std::string::npos) << log;
  EXPECT_NE(log.find(R"(an ack whose \"id\" is no number)", line), std::string::npos) << log;
  EXPECT_EQ(log.find(R"("event":"bad_ack")", line + 1), std::string::npos)
    << "limits::refused_ack_interval";
}

// limits::unread_look_interval: the value is computed again while no client is
// connected.
TEST_F(HostileReaderTest, WhatIsRemovedWhileNobodyIsThereHasNoAge) {
  hostile_host host;
  live_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  host.publish_and_serve(repo);
  hostile_node node{{}, host.url(), {"--mode", "manual"}};
  node.add({repo.did()});
  node.await(repo.did(), "synced");
  constexpr auto age = "weir_consumer_backlog_seconds";
  ASSERT_TRUE(node.await_metric(age, 1));
  node.remove({repo.did()});
  EXPECT_TRUE(eventually(node_patience, [&] { return node.metric(age) == 0; }));
}

} // namespace weir::tests
