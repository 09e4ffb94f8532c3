#include "actors/node/node.hpp"
#include "actors/upstream/limits.hpp"
#include "apps/demo/evidence.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/node_partitions.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/channel_client.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"
#include "tests/system/store_left.hpp"

#include <gtest/gtest.h>

#include <condition_variable>
#include <future>
#include <mutex>

// architecture.md, When the disk fills up, and a disk that hangs.

namespace weir::tests {

namespace {

using namespace std::chrono_literals;

constexpr uint64_t reserve = 64 << 20;
constexpr uint64_t plenty = 1 << 30;

/// A whole node in this process on a disk whose space the test sets, and an
/// application that copies its events.
class DiskFullTest : public testing::Test {
protected:
  void SetUp() override {
    disk.budget(plenty);
    start();
    ASSERT_TRUE(eventually(node_patience, [this] {
      return converged();
    }));
  }

  void start();
  void start_again();

  bool converged() {
    const std::lock_guard lock{guard};
    return net.difference(copy).empty();
  }

  int status(const std::string& url) {
    const auto answer = web->get(url);
    return answer ? answer->status : 0;
  }

  /// What the node still lacks to be ready.
  std::string readiness() {
    const auto answer = web->get(at.operations + "/readyz").value();
    return std::string{as_text(answer.body)};
  }

  bool waits_for(const std::string& text) {
    return eventually(node_patience, [&] {
      return readiness().find(text) != std::string::npos;
    });
  }

  bool is_ready() {
    return eventually(node_patience, [this] {
      return status(at.operations + "/readyz") == 200;
    });
  }

  /// A connection from an earlier life of the node gets no answer, but the next
  /// one does.
  bool adding_gives(int wanted) {
    return eventually(node_patience, [&] {
      const auto answer = web->post(at.data + "/repos/add",
                                    R"({"dids":["did:web:away.test"]})");
      return answer && answer->status == wanted;
    });
  }

  uint64_t frames_read() {
    const auto page = web->get(at.operations + "/metrics").value();
    return static_cast<uint64_t>(
      apps::metric_total(as_text(page.body), "weir_upstream_frames_total", ""));
  }

  bool wait_for_failure() {
    std::unique_lock lock{guard};
    return failed.wait_for(lock, node_patience, [this] {
      return !failures.empty();
    });
  }

  const temp_dir dir;
  fault_env disk{storage::posix_disk()};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  followed_network net{3, 20, 400};
  std::mutex guard;
  std::condition_variable failed;
  std::vector<error> failures;
  apps::event_copy copy;
  actors::node_config config;
  node_addresses at;
  std::unique_ptr<actors::node> node;
  std::unique_ptr<channel_client> consumer; ///< Ends before the node.
};

void DiskFullTest::start() {
  config.data_dir = dir.at("data");
  config.partitions = node_partitions();
  if (at.data.empty())
    config.bind = config.operations_bind = "127.0.0.1:0";
  config.upstreams = {{net.urls().relay, true}};
  config.plc_url = config.handle_resolver_url = net.urls().plc;
  config.allow_private_addresses = true;
  config.plc_per_second = 5'000;
  config.mode = actors::tracking_mode::full_network;
  config.retry_backoff_min = config.retry_backoff_max = 1s;
  config.listing_grace = 1s;
  config.listing_interval = 2s;
  config.disk_reserve = reserve;
  node = actors::node::start(config,
                             [this](const error& why) {
                               const std::lock_guard lock{guard};
                               failures.push_back(why);
                               failed.notify_all();
                             },
                             {nullptr, nullptr, &disk})
           .value();
  at = {node->data_url(), node->operations_url()};
  config.bind = at.data.substr(at.data.rfind('/') + 1);
  config.operations_bind = at.operations.substr(at.operations.rfind('/') + 1);
  consumer = std::make_unique<channel_client>(
    web->transport(), at.data, [this](const auto& texts) {
      const std::lock_guard lock{guard};
      std::vector<uint64_t> acks;
      for (const auto text : texts)
        acks.push_back(copy.take(text, {}).value().id);
      return acks;
    });
}

/// Restarts the node as `weir run` does.
void DiskFullTest::start_again() {
  consumer = nullptr;
  node->stop();
  node = nullptr;
  failures.clear();
  start();
}

} // namespace

TEST_F(DiskFullTest, IntakePausesBeforeTheDiskIsFullAndResumesByItself) {
  disk.budget(reserve - 1);
  ASSERT_TRUE(waits_for("have to stay free")) << readiness();
  const auto before = frames_read();
  // Frames for which the socket has credit still come; the rest waits at the
  // relay.
  constexpr size_t more = 3 * limits::upstream_frames_max;
  net.life().traffic().make(more);
  ASSERT_TRUE(eventually(node_patience, [&] {
    return frames_read() > before;
  }));
  EXPECT_TRUE(adding_gives(200)) << "half of the reserve is there";
  disk.budget(reserve / 2 - 1);
  EXPECT_TRUE(adding_gives(503));
  EXPECT_EQ(status(at.data + "/repos"), 200) << "reads go on";
  EXPECT_LE(frames_read(), before + limits::upstream_frames_max);
  EXPECT_FALSE(converged());
  disk.budget(plenty);
  EXPECT_TRUE(is_ready()) << readiness();
  EXPECT_TRUE(eventually(node_patience, [this] {
    return converged();
  }));
  EXPECT_TRUE(adding_gives(200));
  EXPECT_TRUE(failures.empty());
}

// architecture.md, Health: a file system that is frozen, or a disk that does
// not answer
TEST_F(DiskFullTest, AWriteThatHangsIsReportedAndLosesNothing) {
  std::promise<void> thawed;
  disk.plan({.kinds = kind_bit(io_call::sync),
             .name_ends_with = ".log",
             .instead = [gate = thawed.get_future().share()] {
               gate.wait();
             }});
  net.life().traffic().make(200);
  EXPECT_TRUE(waits_for("write: a write to ")) << readiness();
  EXPECT_EQ(status(at.operations + "/readyz"), 503);
  EXPECT_EQ(status(at.data + "/repos"), 200) << "reads go on";
  EXPECT_FALSE(converged());
  thawed.set_value();
  EXPECT_TRUE(is_ready()) << readiness();
  EXPECT_TRUE(eventually(node_patience, [this] {
    return converged();
  }));
  EXPECT_TRUE(failures.empty());
}

TEST_F(DiskFullTest, ADiskThatIsFullNeverthelessLosesNothingAndIsUsedAgain) {
  for (size_t round = 0; round < 3; ++round) {
    disk.budget(round * 4'096); // Records fit completely or are torn.
    net.life().traffic().make(200);
    ASSERT_TRUE(waits_for("only read until there is room")) << readiness();
    EXPECT_TRUE(adding_gives(503));
    EXPECT_EQ(status(at.data + "/repos"), 200);
    EXPECT_EQ(status(at.operations + "/livez"), 200);
    EXPECT_TRUE(failures.empty()) << "it waits for room";
    disk.budget(plenty);
    ASSERT_TRUE(wait_for_failure());
    EXPECT_EQ(failures.front().code, ec::disk_full);
    start_again();
    EXPECT_TRUE(eventually(node_patience, [this] {
      return converged();
    }));
    EXPECT_TRUE(is_ready()) << readiness();
  }
  consumer = nullptr;
  node = nullptr;
  EXPECT_EQ(copy.counts().conflicts, 0u) << "no id had two contents";
  EXPECT_EQ(store_left::read(config.data_dir).findings, "");
}

TEST_F(DiskFullTest, ADiskThatRefusesWritesAlthoughBytesAreFreeIsWaitedFor) {
  disk.plan({.sticky = true,
             .error = io_error::no_space,
             .kinds = kind_bit(io_call::create) | kind_bit(io_call::append)});
  net.life().traffic().make(200);
  ASSERT_TRUE(waits_for("disk refuses writes: ")) << readiness();
  EXPECT_TRUE(adding_gives(503));
  EXPECT_EQ(status(at.data + "/repos"), 200);
  EXPECT_EQ(status(at.operations + "/livez"), 200);
  EXPECT_TRUE(failures.empty()) << "it waits until writes are taken";
  disk.heal();
  ASSERT_TRUE(wait_for_failure());
  EXPECT_EQ(failures.front().code, ec::disk_full);
  start_again();
  EXPECT_TRUE(eventually(node_patience, [this] {
    return converged();
  }));
  EXPECT_TRUE(is_ready()) << readiness();
}

} // namespace weir::tests
