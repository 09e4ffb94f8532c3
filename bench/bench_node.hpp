#pragma once

#include "actors/node/node.hpp"
#include "bench/outside.hpp"
#include "bench/scratch_dir.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

namespace weir::bench {

/// The settings of a node in a benchmark.
enum class node_settings : uint8_t {
  hurried,  ///< The short waits of conf/demo.toml.
  standard, ///< The defaults, as a first user has them.
};

/// A node as `weir run` makes it, with its store in a new directory. It is
/// measured by its own counters. It runs in full-network mode with durable
/// writes.
///
/// # Ownership and threads
/// The main thread owns and calls it. It must end before `outside`.
class bench_node {
public:
  /// @param dir Where the store's directory is made. It is removed with this
  /// object.
  static result<std::unique_ptr<bench_node>>
  start(const outside& network, const std::filesystem::path& dir,
        node_settings settings);

  const std::string& data_url() const noexcept { return node_->data_url(); }

  /// Number of operations that are durable.
  uint64_t operations() const noexcept { return operations_->value(); }

  /// Number of repos that were fetched.
  uint64_t fetches() const noexcept { return fetches_->value(); }

  /// Number of commits that were verified and applied.
  uint64_t commits() const noexcept { return commits_->value(); }

  /// The last seq of the relay up to which everything is durable.
  int64_t cursor() const noexcept {
    return static_cast<int64_t>(cursor_->value());
  }

  /// Value of a metric without labels, read from the page of /metrics, which
  /// is expensive; 0 when it is absent.
  uint64_t number(const std::string& name) const;

  /// What happened to stream events other than applied commits, for people.
  std::string other_events() const;

  /// Waits until `reached` returns true, for at most `patience`. It is called
  /// once a millisecond. Errors: `limit_reached`, which names `what`, or the
  /// reason why the node failed.
  result<void> until(const std::string& what, std::chrono::seconds patience,
                     const std::function<bool()>& reached) const;

private:
  bench_node() = default;

  std::string state() const;

  void find_counters(const std::string& relay);

  scratch_dir data_dir_;     ///< Outlives the node.
  mutable std::mutex guard_; ///< Guards `failure_`.
  error failure_;
  std::unique_ptr<actors::node> node_;
  const metric* operations_ = nullptr;
  const metric* fetches_ = nullptr;
  const metric* commits_ = nullptr;
  const metric* cursor_ = nullptr;
};

} // namespace weir::bench
