#include "actors/node/limits.hpp"
#include "actors/node/node.hpp"
#include "apps/demo/evidence.hpp"
#include "net/io_threads.hpp"
#include "net/transport.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/memory_disk.hpp"
#include "tests/support/node_partitions.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <utility>

// architecture.md, Shells and machines: a node uses only what it is given.

namespace weir::tests {

namespace {

/// The machine's network, which counts its uses.
class counted_transport final : public net::transport {
public:
  explicit counted_transport(net::transport_ptr inner)
    : inner_(std::move(inner)) {
    // nop
  }

  net::event_loop& next_loop() noexcept override { return inner_->next_loop(); }

  void dial(net::event_loop& loop, const net::endpoint& to,
            std::chrono::microseconds timeout,
            net::stream_handler done) override {
    ++dials;
    inner_->dial(loop, to, timeout, std::move(done));
  }

  result<std::unique_ptr<net::listener>>
  listen(const net::endpoint& at, net::accept_handler accepted) override {
    ++ports;
    return inner_->listen(at, std::move(accepted));
  }

  void resolve(
    net::event_loop& loop, std::string name,
    std::function<void(result<std::vector<net::ip_address>>)> done) override {
    inner_->resolve(loop, std::move(name), std::move(done));
  }

  void resolve_txt(
    net::event_loop& loop, std::string name,
    std::function<void(result<std::vector<std::string>>)> done) override {
    inner_->resolve_txt(loop, std::move(name), std::move(done));
  }

  std::atomic<size_t> dials{0};
  std::atomic<size_t> ports{0};

private:
  net::transport_ptr inner_;
};

/// A node with a disk and a network of the test.
class NodeSeamsTest : public testing::Test {
protected:
  NodeSeamsTest() {
    threads.start();
    config.data_dir = dir.at("data");
    config.partitions = node_partitions();
    config.bind = config.operations_bind = "127.0.0.1:0";
    config.upstreams = {{net.urls().relay, true}};
    config.plc_url = config.handle_resolver_url = net.urls().plc;
    config.allow_private_addresses = true;
    config.plc_per_second = 5'000;
    config.mode = actors::tracking_mode::full_network;
    config.listing_grace = std::chrono::seconds{1};
  }

  ~NodeSeamsTest() override {
    threads.stop();
    threads.join();
  }

  result<std::unique_ptr<actors::node>>
  start(std::function<bool()> end_wanted = {},
        storage::disk_env* other_disk = nullptr) {
    actors::node_seams seams;
    seams.disk = other_disk == nullptr ? &disk : other_disk;
    seams.transport = sockets;
    seams.end_wanted = std::move(end_wanted);
    return actors::node::start(
      config,
      [](const error& why) {
        ADD_FAILURE() << to_string(why);
      },
      std::move(seams));
  }

  void expect_in_sync(const actors::node& node) {
    const node_addresses at{node.data_url(), node.operations_url()};
    EXPECT_TRUE(eventually(node_patience, [&] {
      return status_of(*web, at).synced == accounts;
    }));
  }

  static constexpr size_t accounts = 10;
  const temp_dir dir;
  memory_disk disk;
  net::io_threads threads{1};
  const std::shared_ptr<counted_transport> sockets
    = std::make_shared<counted_transport>(net::make_system_transport(threads));
  followed_network net{8, accounts, 100};
  const std::unique_ptr<apps::web_client> web = apps::web_client::make();
  actors::node_config config;
};

} // namespace

TEST_F(NodeSeamsTest, ANodeLivesOnTheDiskAndTheNetworkItIsGiven) {
  auto node = start();
  ASSERT_TRUE(node) << to_string(node.error());
  expect_in_sync(**node);
  EXPECT_EQ(sockets->ports, 2u);
  EXPECT_GT(sockets->dials, 2u);
  EXPECT_FALSE(disk.names().empty());
  EXPECT_FALSE(std::filesystem::exists(dir.at("data/CURRENT")));
  EXPECT_FALSE(std::filesystem::exists(dir.at("data/store/CURRENT")));
}

// A node that still starts can be stopped without waiting
TEST_F(NodeSeamsTest, AStartEndsWhereverItIsAskedToAndHarmsNothing) {
  {
    auto node = start();
    ASSERT_TRUE(node);
    expect_in_sync(**node);
  }
  size_t questions = 0;
  for (size_t ended_at = 1;; ++ended_at) {
    size_t asked = 0;
    auto node = start([&] {
      return ++asked == ended_at;
    });
    questions = asked;
    if (node) {
      expect_in_sync(**node);
      break;
    }
    EXPECT_EQ(node.error().code, ec::cancelled);
  }
  EXPECT_GE(questions, 2u);
}

// On a disk whose flush takes 100 ms, a start with many stores takes minutes.
// It asks so often that a stop waits only for the opening of one store.
TEST_F(NodeSeamsTest, AStartAsksBetweenFlushesHoweverManyStoresThereAre) {
  config.upstreams.clear();
  config.mode = actors::tracking_mode::manual;
  const auto most_unasked = [this](size_t partitions) {
    memory_disk empty;
    fault_env counted{empty};
    config.partitions = partitions;
    uint64_t most = 0;
    uint64_t before = 0;
    const auto look = [&] {
      const auto now = counted.calls_of_maker(io_call::sync)
                       + counted.calls_of_maker(io_call::sync_directory);
      most = std::max(most, now - std::exchange(before, now));
      return false;
    };
    const auto node = start(look, &counted);
    EXPECT_TRUE(node) << to_string(node.error());
    look();
    return most;
  };
  const auto of_one = most_unasked(1);
  EXPECT_GT(of_one, 0u);
  // Another store has a directory of its own, which is made durable, too.
  EXPECT_LE(most_unasked(limits::partitions_range.max), of_one + 1);
}

} // namespace weir::tests
