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

/// The machine's clock plus a shift that another thread may set.
class shifted_clock final : public clock {
public:
  steady_time steady_now() const noexcept override {
    return system_clock().steady_now() + passed_.load();
  }

  wall_time wall_now() const noexcept override {
    return system_clock().wall_now() + passed_.load() + offset_.load();
  }

  void shift(std::chrono::microseconds x) { offset_ = x; }

  /// Moves the clock forward by `x`. Timers that run are not affected.
  void pass(std::chrono::microseconds x) { passed_ = passed_.load() + x; }

private:
  std::atomic<std::chrono::microseconds> offset_{};
  std::atomic<std::chrono::microseconds> passed_{};
};

/// A whole node in this process whose clock, directory and upstream the test
/// controls, with a simulated network. Its health is read where an operator
/// reads it.
class WatchedNodeTest : public testing::Test {
protected:
  /// @param hosts The number of hosts of the network; the node follows its
  /// relay.
  explicit WatchedNodeTest(size_t hosts = 3);
  ~WatchedNodeTest() override;

  void start();
  void stop() { node_.reset(); }

  /// Tracks the first `count` accounts, if the node does not track all anyway.
  void add(size_t count);

  /// Tracks these repos.
  void add(const std::vector<atproto::did>& repos);

  /// The answer of `/readyz`.
  std::string readiness();

  /// The member `causes` of the answer of the operations port at `path`.
  std::string causes_of(const std::string& path);

  /// Waits until this is a cause. With level `failing` the node must answer
  /// 503, otherwise it must be ready.
  bool await_cause(const std::string& cause, const std::string& where,
                   const std::string& error,
                   const std::string& level = "failing");

  bool await_ready();

  /// The answer of `/repos/errors`.
  std::string errors();

  /// A value of `/metrics`: the sum over all labels, or over those that contain
  /// `label`.
  uint64_t metric(const std::string& name, const std::string& label = {});

  /// The number of repos that are `synced` at their host's rev.
  size_t equal_to_source();

  bool await_all_equal();

  /// The number of warnings about the node's health so far that have this event
  /// and cause.
  size_t warnings(const std::string& event, const std::string& cause);

  static constexpr size_t accounts = 20;
  followed_network net;
  shifted_clock time;
  actors::node_config config;

private:
  const temp_dir dir_;
  const std::unique_ptr<apps::web_client> web_ = apps::web_client::make();
  std::unique_ptr<actors::node> node_;
  std::string log_; ///< The part of the log that was captured and read.
};

} // namespace weir::tests
