#include "tests/system/channel_client.hpp"
#include "tests/system/hostile_crowd.hpp"
#include "tests/system/hostile_node.hpp"
#include "tests/system/streamed_repo.hpp"

#include <algorithm>
#include <iostream>

namespace weir::tests {

namespace {

/// A hundred streams need at least some 400 MiB.
constexpr size_t memory_limit = 512 * megabyte;
constexpr size_t bad_hosts = 100;
constexpr int64_t forgeries = 2'000;
constexpr size_t live_commits = 200;
constexpr size_t record_bytes = 300'000;

/// A good PDS with a live account and a large one, with bad hosts.
class MemoryCrowdTest : public NetFixture {
protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "most of the memory would be the sanitizer's";
#endif
    hub.on("/xrpc/com.atproto.sync.subscribeRepos", stream.script());
    live.put("app.test.note/a", make_record("one"));
    live.commit();
    hub.publish_and_serve(live);
    hub.publish(large.account(), hub.url());
    hub.on_repo(large.account().did(), large.script());
    auto upstreams = crowd.upstreams();
    upstreams.push_back("pds:" + hub.url());
    node = std::make_unique<hostile_node>(
      upstreams, hub.url(),
      std::vector<std::string>{
        "--memory-limit", std::to_string(memory_limit), "--sync-parallelism",
        "16", "--sync-per-host", "2", "--retry-backoff-min", "60s",
        "--plc-per-second", "500", "--consumer-retry", "1h", "--repo-bytes-max",
        std::to_string(large.car_bytes())});
  }

  /// Tracks repos that no directory knows.
  void track_unknown(size_t count) {
    constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz234567";
    std::vector<atproto::did> part;
    for (size_t i = 0; i < count; ++i) {
      std::string id(24, 'a');
      for (size_t at = 0, rest = i; rest > 0; rest /= letters.size())
        id[at++] = letters[rest % letters.size()];
      part.push_back(atproto::did::trusted("did:plc:" + id));
      if (part.size() == 10'000 || i + 1 == count) {
        node->add(part);
        part.clear();
      }
    }
  }

  live_repo live{2};
  const streamed_repo large
    = streamed_repo::of_bytes(wished("CAR_MIB", 64) * megabyte);
  hostile_stream stream;
  hostile_host hub; ///< The directory and the good host.
  hostile_crowd crowd{bad_hosts,
                      [](size_t i) {
                        return static_cast<misdeed>(i % misdeeds);
                      },
                      forgeries, hub};
  std::unique_ptr<hostile_node> node;
};

} // namespace

// architecture.md, When memory runs short: a hundred bad hosts, a large
// CAR, a consumer that acks nothing, live commits and tracked repos at once.
// The large form runs on request (docs/testing.md).
TEST_F(MemoryCrowdTest, EverythingAtOnceStaysUnderTheLimit) {
  const channel_client dead{network, node->data_url(), [](const auto&) {
                              return std::vector<uint64_t>{};
                            }};
  auto first = crowd.accounts();
  first.insert(first.begin(), {live.did(), large.account().did()});
  node->add(first);
  node->await(live.did(), "synced");
  track_unknown(wished("REPOS", 20'000));
  for (size_t i = 0; i < live_commits; ++i) {
    live.put("app.test.note/a",
             make_record(std::string(record_bytes, 'x') + std::to_string(i)));
    auto draft = live.draft();
    draft.seq = static_cast<int64_t>(i) + 1;
    ASSERT_TRUE(stream.send(draft.encode(draft.sign(live.key()))));
  }
  EXPECT_TRUE(eventually(node_patience, [&] {
    return node->repo(live.did()).rev == live.rev().str();
  }));
  const std::chrono::seconds most{60 + large.car_bytes() / megabyte};
  EXPECT_TRUE(eventually(most,
                         [&] {
                           return node->repo(large.account().did()).status
                                  == "synced";
                         }))
    << node->repo(large.account().did()).error;
  EXPECT_EQ(node->repo(large.account().did()).records, large.records());
  EXPECT_GE(node->metric("weir_consumer_backlog_events"), live_commits);
  EXPECT_GE(crowd.connections(), bad_hosts);
  EXPECT_GT(crowd.forged(), 0u);
  EXPECT_TRUE(node->is_healthy());
  std::cout << "all at once: peak " << node->peak_bytes() / megabyte
            << " MiB of " << memory_limit / megabyte << std::endl;
  EXPECT_LT(node->peak_bytes(), memory_limit);
}

} // namespace weir::tests
