#include "actors/upstream/limits.hpp"
#include "apps/demo/evidence.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/hostile_host.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/kill_network.hpp"
#include "tests/system/live_repo.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <csignal>

// hostile-inputs.md 2.1.34: the process gets past it within four starts
// (limits::poison_frame_ends_max).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

class PoisonTest : public testing::Test {
protected:
  /// Starts a node, which may die before it names its addresses.
  node_addresses start(program& node) {
    const auto at = parse_ready(node.read_line(node_patience).value_or(""));
    if (!at.data.empty())
      consumer.connect(net.transport(), at.data, false, true);
    return at;
  }

  /// A life that sees the whole network and ends in order.
  void follow_all() {
    program node{arguments};
    const auto at = start(node);
    ASSERT_NE(at.data, "") << tail_of(node.errors());
    ASSERT_EQ(net.converge(consumer, at), "") << tail_of(node.errors());
    post(0); // From now on it has a position in the stream.
    ASSERT_EQ(net.converge(consumer, at), "") << tail_of(node.errors());
    node.send(SIGTERM);
    ASSERT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
    consumer.end_connection();
  }

  void post(size_t account) { net.life().traffic().post(account); }

  const temp_dir dir;
  const std::string data = dir.at("data");
  kill_network net{3, 0};
  durable_consumer consumer{dir.at("taken"), 3};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  const std::vector<std::string> arguments
    = net.arguments(data, {"--consumer-retry", "60s"});
};

} // namespace

TEST_F(PoisonTest, AFrameThatEndsTheProcessIsSteppedOverAndItsRepoFetched) {
  constexpr size_t victim = 7;
  constexpr size_t others = 5;
  ASSERT_NO_FATAL_FAILURE(follow_all());
  for (size_t i = 0; i < others; ++i)
    post(i);
  post(victim);
  for (size_t i = 0; i < others; ++i)
    post(i);
  const auto did = net.life().truth().view(victim).id.str();
  const std::vector<std::string> crash{"WEIR_CRASH_AT=frame.taken:1:" + did};

  // The first life does not know the frame; three more find it.
  for (size_t i = 0; i < 1 + limits::poison_frame_ends_max; ++i) {
    program node{arguments, crash};
    start(node);
    ASSERT_EQ(node.wait(node_patience), -SIGKILL) << "life " << i << "\n"
                                        << tail_of(node.errors());
    consumer.end_connection();
    const auto left = store_left::read(data);
    EXPECT_EQ(left.findings, "");
    consumer.check_acks(left, false);
  }

  program node{arguments, crash};
  const auto at = start(node);
  ASSERT_NE(at.data, "") << tail_of(node.errors());
  const auto before = node.resident_bytes();
  EXPECT_EQ(net.converge(consumer, at), "") << tail_of(node.errors());
  EXPECT_LT(node.peak_bytes(), before + 16 * megabyte + memory_slack);
  const auto page = web->get(at.operations + "/metrics").value();
  const auto count = [&](const char* name, const char* label) {
    return apps::metric_total(as_text(page.body), name, label);
  };
  EXPECT_EQ(count("weir_upstream_poison_frames_total", ""), 1u);
  EXPECT_EQ(count("weir_repo_events_total", "result=\"poison\""), 1u);
  EXPECT_NE(node.errors().find(" of " + did + ": the process ended 3 times"),
            std::string::npos)
    << tail_of(node.errors());
  node.send(SIGTERM);
  EXPECT_EQ(node.wait(node_patience), 0) << tail_of(node.errors());
  consumer.end_connection();
  net.check(consumer, dir.at("taken"), data);
}

// A life that made progress did not die of a frame. The next life handles
// frames in parallel and does not write each one down first.
TEST(CarefulLifeTest, ADeathAfterProgressIsNotFollowedByCare) {
  constexpr int64_t frames = 400;
  hostile_stream stream;
  hostile_host host;
  host.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
  live_repo repo{1};
  repo.put("app.test.note/a", make_record("one"));
  repo.commit();
  host.publish_and_serve(repo);
  hostile_node node{{"relay:" + host.url()}, host.url(), {"--mode", "manual"}};
  node.add({repo.did()});
  ASSERT_EQ(node.await(repo.did(), "synced").status, "synced");
  ASSERT_TRUE(stream.send(unknown_frame(1)));
  repo.put("app.test.note/b", make_record("two"));
  auto commit = repo.draft();
  commit.seq = 2;
  ASSERT_TRUE(stream.send(commit.encode(commit.sign(repo.key()))));
  // The row with the stream's position is written before the repo's.
  ASSERT_TRUE(eventually(node_patience, [&] {
    return node.repo(repo.did()).rev == repo.rev().str();
  }));
  node.kill([] {});
  const auto before = node.metric("weir_journal_batches_total");
  atproto::identity_event event;
  event.repo = atproto::did::trusted("did:plc:" + std::string(24, 'z'));
  const auto made = frame_time_of_now();
  event.time = made;
  for (event.seq = 3; event.seq < 3 + frames; ++event.seq)
    ASSERT_TRUE(stream.send(atproto::encode_frame(event)));
  EXPECT_TRUE(node.await_metric("weir_upstream_cursor", 2 + frames));
  EXPECT_LT(node.metric("weir_journal_batches_total") - before, frames / 4);
}

} // namespace weir::tests
