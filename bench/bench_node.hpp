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

/// How a node of a benchmark is set up.
enum class node_settings : uint8_t {
  hurried,  ///< As conf/demo.toml where production waits.
  standard, ///< The defaults, as somebody tries it first.
};

/// A node as `weir run` makes it, with its store in a new directory, and its
/// own counters to measure it by. Full network mode, durable writes.
///
/// # Ownership and threads
/// Owned by the main thread, which alone calls it. Ends before `outside`.
class bench_node {
public:
  /// @param dir Where the store's directory is made; removed with this object.
  static result<std::unique_ptr<bench_node>>
  start(const outside& network, const std::filesystem::path& dir,
        node_settings settings);

  const std::string& data_url() const noexcept { return node_->data_url(); }

  // -- cheap enough to be asked a thousand times a second --------------------

  /// Operations that are durable.
  uint64_t operations() const noexcept { return operations_->value(); }

  /// Repos that were fetched.
  uint64_t fetches() const noexcept { return fetches_->value(); }

  /// Commits that were verified and applied.
  uint64_t commits() const noexcept { return commits_->value(); }

  /// Everything the relay sent up to this number is durable.
  int64_t cursor() const noexcept {
    return static_cast<int64_t>(cursor_->value());
  }

  // -- dearer: makes the page of /metrics ------------------------------------

  /// Number of a metric without labels; 0 when it is absent.
  uint64_t number(const std::string& name) const;

  /// What became of stream events, but for applied commits: for people.
  std::string other_events() const;

  /// Waits until `reached`, for at most `patience`. Looks once a millisecond.
  /// Errors: `limit_reached` naming `what`; what the node failed of.
  result<void> until(const std::string& what, std::chrono::seconds patience,
                     const std::function<bool()>& reached) const;

private:
  bench_node() = default;

  std::string state() const;

  result<void> open(const outside& network, const std::filesystem::path& dir,
                    node_settings settings);
  void find_counters(const std::string& relay);

  scratch_dir data_dir_;     ///< Outlives the node.
  mutable std::mutex guard_; ///< Of `failure_`.
  error failure_;
  std::unique_ptr<actors::node> node_;
  const metric* operations_ = nullptr;
  const metric* fetches_ = nullptr;
  const metric* commits_ = nullptr;
  const metric* cursor_ = nullptr;
};

} // namespace weir::bench
