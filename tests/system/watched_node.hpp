#pragma once

#include "actors/node/node.hpp"
#include "apps/weir/web_client.hpp"
#include "tests/support/temp_dir.hpp"
#include "tests/system/followed_network.hpp"
#include "tests/system/patience.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// The machine's clock, whose hands somebody else may set.
class shifted_clock final : public clock {
public:
  steady_time steady_now() const noexcept override {
    return system_clock().steady_now() + passed_.load();
  }

  wall_time wall_now() const noexcept override {
    return system_clock().wall_now() + passed_.load() + offset_.load();
  }

  void shift(std::chrono::microseconds x) { offset_ = x; }

  /// So much time has passed, for whoever looks at a clock. Timers that run do
  /// not hear of it.
  void pass(std::chrono::microseconds x) { passed_ = passed_.load() + x; }

private:
  std::atomic<std::chrono::microseconds> offset_{};
  std::atomic<std::chrono::microseconds> passed_{};
};

/// A whole node in this process, whose clock, directory and upstream the test
/// decides, beside a simulated network; what it says of its health is read
/// where an operator would.
class WatchedNodeTest : public testing::Test {
protected:
  /// @param hosts Of the network; the node follows its relay.
  explicit WatchedNodeTest(size_t hosts = 3);
  ~WatchedNodeTest() override;

  void start();
  void stop() { node_.reset(); }

  /// Tracks the first accounts, where not all are anyhow.
  void add(size_t count);

  /// Tracks these.
  void add(const std::vector<atproto::did>& repos);

  /// Answer of `/readyz`.
  std::string readiness();

  /// The member `causes` of what the operations port answers at `path`.
  std::string causes_of(const std::string& path);

  /// This is a cause; 503 when it is `failing`, else the node is ready.
  bool await_cause(const std::string& cause, const std::string& where,
                   const std::string& error,
                   const std::string& level = "failing");

  bool await_ready();

  /// Answer of `/repos/errors`.
  std::string errors();

  /// A number of `/metrics`: of all labels, or those that contain `label`.
  uint64_t metric(const std::string& name, const std::string& label = {});

  /// Repos that are `synced` at the rev that their host has.
  size_t equal_to_source();

  bool await_all_equal();

  /// Warnings about the node's health so far: lines with this event and cause.
  size_t warnings(const std::string& event, const std::string& cause);

  static constexpr size_t accounts = 20;
  followed_network net;
  shifted_clock time;
  actors::node_config config;

private:
  const temp_dir dir_;
  const std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  std::unique_ptr<actors::node> node_;
  std::string log_; ///< What was captured and read.
};

} // namespace weir::tests
