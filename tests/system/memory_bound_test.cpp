#include "apps/demo/evidence.hpp"
#include "atproto/limits.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/streamed_repo.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <csignal>
#include <iostream>

// architecture.md, When memory runs short: the program's memory stays below its
// limit when every queue is full. The large forms run on request
// (docs/testing.md).

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr size_t least_limit = 128 * megabyte;

/// `weir run` with the smallest memory limit.
class bounded_node {
public:
  explicit bounded_node(std::vector<std::string> arguments)
    : arguments_(std::move(arguments)) {
    arguments_.insert(arguments_.end(), {"--memory-limit", "128MiB"});
    start();
  }

  /// Stops in order and starts again; the peak is measured anew.
  void restart() {
    stop();
    start();
  }

  void stop() {
    process_->send(SIGTERM);
    EXPECT_EQ(process_->wait(node_patience), 0) << tail_of(process_->errors());
  }

  uint64_t metric(const char* name, const char* label = "") {
    const auto page = web_->get(at_.operations + "/metrics");
    return page ? apps::metric_total(as_text(page->body), name, label) : 0;
  }

  bool await_metric(const char* name, const char* label, uint64_t least) {
    return eventually(node_patience, [&] {
      return metric(name, label) >= least;
    });
  }

  apps::node_status status() { return status_of(*web_, at_); }

  bool add(const std::vector<std::string>& repos) {
    namespace json = boost::json;
    const json::array dids(repos.begin(), repos.end());
    const auto answer = web_->post(
      at_.data + "/repos/add", json::serialize(json::object{{"dids", dids}}));
    return answer && answer->status == 200;
  }

  /// The reason why a repo is not synced; empty while nothing has failed.
  std::string error_of(const std::string& repo) {
    const auto answer = web_->get(at_.data + "/info/" + repo);
    if (!answer)
      return {};
    const auto said = boost::json::parse(as_text(answer->body));
    const auto* error = said.as_object().if_contains("error");
    return error == nullptr ? "" : std::string{error->as_string()};
  }

  /// A consumer that takes events and acks none.
  std::unique_ptr<channel_client> dead_consumer() {
    return std::make_unique<channel_client>(web_->transport(), at_.data,
                                            [](const auto&) {
                                              return std::vector<uint64_t>{};
                                            });
  }

  std::string log() const { return tail_of(process_->errors()); }

  void expect_peak_below(size_t limit, const std::string& what) const {
    const auto peak = process_->peak_bytes();
    std::cout << what << ": peak " << peak / megabyte << " MiB of "
              << limit / megabyte << std::endl;
    EXPECT_GT(peak, 0u);
    EXPECT_LT(peak, limit);
  }

private:
  void start() {
    process_ = std::make_unique<program>(arguments_);
    at_ = parse_ready(process_->read_line(node_patience).value_or(""));
    if (at_.data.empty())
      throw std::runtime_error("not ready: " + process_->errors());
  }

  std::vector<std::string> arguments_;
  std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  std::unique_ptr<program> process_;
  node_addresses at_;
};

/// Arguments without an upstream.
std::vector<std::string> quiet_arguments(const std::string& data_dir,
                                         const std::string& plc) {
  return {"run",         "--data-dir", data_dir, "--bind",
          "127.0.0.1:0", "--plc-url",  plc,      "--allow-private-addresses",
          "--log-level", "warn"};
}

class MemoryBoundTest : public testing::Test {
protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "most of the memory would be the sanitizer's";
#endif
  }

  /// Expects that the repo is copied with memory to spare, or refused if it is
  /// above the limit.
  static void expect_taken(const streamed_repo& large,
                           const std::string& what) {
    const temp_dir dir;
    hostile_host host;
    host.publish(large.account(), host.url());
    host.on_repo(large.account().did(), large.script());
    bounded_node node{quiet_arguments(dir.at("data"), host.url())};
    const auto repo = large.account().did().str();
    ASSERT_TRUE(node.add({repo}));
    const bool allowed = large.records() <= limits::repo_records_max;
    const std::chrono::seconds most{60 + large.car_bytes() / megabyte};
    ASSERT_TRUE(eventually(most,
                           [&] {
                             return node.status().synced == 1
                                    || !node.error_of(repo).empty();
                           }))
      << node.log();
    const auto error = node.error_of(repo);
    EXPECT_TRUE(allowed ? error.empty()
                        : error.find("limit_reached") != std::string::npos)
      << error;
    EXPECT_EQ(node.status().records, allowed ? large.records() : 0);
    node.expect_peak_below(least_limit, what);
    node.stop();
  }
};

} // namespace

// A consumer that never acks, a directory that never answers so that repos keep
// their frames, parallel fetches, and more events than all windows can hold.
TEST_F(MemoryBoundTest, WithEveryQueueFullTheProcessStaysUnderItsLimit) {
  const temp_dir dir;
  followed_network net{7, 1'000, 25'000};
  bounded_node node{net.arguments(
    dir.at("data"), {"--sync-parallelism", "4", "--consumer-window-events",
                     "100000", "--consumer-retry", "1h"})};
  EXPECT_EQ(node.metric("weir_memory_limit_bytes"), least_limit);
  const auto dead = node.dead_consumer();
  ASSERT_TRUE(node.await_metric("weir_memory_held_bytes", "delivery", megabyte))
    << node.log();
  simnet::fault down;
  down.kind = simnet::fault_kind::directory_down;
  down.count = 0;
  ASSERT_TRUE(net.life().faults().inject(down));
  net.life().traffic().make(15'000);
  ASSERT_TRUE(node.await_metric("weir_upstream_frames_total", "", 12'000))
    << node.log();
  down.kind = simnet::fault_kind::directory_up;
  ASSERT_TRUE(net.life().faults().inject(down));
  EXPECT_TRUE(eventually(node_patience,
                         [&] {
                           const auto now = node.status();
                           return now.synced == now.repos;
                         }))
    << node.log();
  node.expect_peak_below(least_limit, "all windows");
  node.stop();
}

// hostile-inputs.md 2.1.18: memory does not grow with the size.
TEST_F(MemoryBoundTest, ACarHalfAsLargeAsTheLimitIsTakenInFlatMemory) {
  const auto large = streamed_repo::of_bytes(wished("CAR_MIB", 64) * megabyte);
  expect_taken(large, "a CAR of " + std::to_string(large.car_bytes() / megabyte)
                        + " MiB");
}

// The same for records; on request limits::repo_records_max of them and one
// more.
TEST_F(MemoryBoundTest, ARepoOfManyRecordsIsTakenInFlatMemory) {
  const auto large = streamed_repo::of_records(wished("RECORDS", 100'000));
  expect_taken(large, std::to_string(large.records()) + " records");
}

// architecture.md, When memory runs short: any number of repos, when they are
// added and when they are known from the start.
TEST_F(MemoryBoundTest, TrackedReposDoNotFillIt) {
  const temp_dir dir;
  const auto count = wished("REPOS", 20'000);
  bounded_node node{quiet_arguments(dir.at("data"), "http://127.0.0.1:9")};
  std::vector<std::string> part;
  for (size_t i = 0; i < count; ++i) {
    part.push_back("did:web:r" + std::to_string(i) + ".example.com");
    if (part.size() == 10'000 || i + 1 == count) {
      ASSERT_TRUE(node.add(part)) << i << ": " << node.log();
      part.clear();
    }
  }
  const auto what = std::to_string(count) + " repos";
  EXPECT_EQ(node.status().repos, count);
  node.expect_peak_below(least_limit, what);
  node.restart();
  EXPECT_EQ(node.status().repos, count);
  node.expect_peak_below(least_limit, what + ", after a restart");
  node.stop();
}

} // namespace weir::tests
