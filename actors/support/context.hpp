#pragma once

#include "actors/support/all_stores.hpp"
#include "actors/support/clock_board.hpp"
#include "actors/support/completeness_census.hpp"
#include "actors/support/health_board.hpp"
#include "actors/support/intake_board.hpp"
#include "actors/support/partition_context.hpp"
#include "actors/support/upstream_view.hpp"
#include "actors/support/waiting_room.hpp"
#include "base/byte_ledger.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "messages/interfaces.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// What every actor of one node shares: the seams, the boards, the handles of
/// the actors that a node has once, and its partitions.
///
/// # Ownership and threads
/// Made by NODE, which fills the handles before any event flows and empties
/// them at shutdown (they would keep each other alive). The handles of
/// UPSTREAMs change while running and are guarded.
struct context {
  /// One partition with one ROUTER, until `divide`.
  context() { divide({}); }

  const clock* time = nullptr;
  random_source* random = nullptr;
  metrics_registry metrics;
  std::string log_epoch; ///< Name of the epoch of the node and its log.
  upstream_board upstreams;
  intake_board intake;
  clock_board signers;
  health_board health;
  std::shared_ptr<byte_ledger> memory = std::make_shared<byte_ledger>();
  std::shared_ptr<waiting_room> kept_frames = std::make_shared<waiting_room>();
  /// Repos that no upstream covers; below 0 before the first census.
  std::atomic<int64_t> uncovered{-1};
  completeness_board completeness;
  identity_actor identity;
  supervisor_actor supervisor;
  backup_actor backup;

  // -- partitions -------------------------------------------------------------

  /// @pre no partition has a handle
  void divide(const placement& x) {
    places_ = x;
    partitions_.clear();
    for (uint16_t i = 0; i < x.partitions(); ++i)
      partitions_.push_back(std::make_shared<partition_context>(i));
  }

  const placement& places() const noexcept { return places_; }

  /// The partitions in the order of their numbers.
  const std::vector<home_ptr>& partitions() const noexcept {
    return partitions_;
  }

  all_stores stores; ///< Never changes while there are actors.

  /// The partition whose store also has the rows of the whole node: upstreams,
  /// listings, configuration, the directory's export.
  partition_context& root() const { return *partitions_.front(); }

  partition_context& home_of(const atproto::did& repo) const {
    return *partitions_[places_.partition_of(repo)];
  }

  /// Must be called in the order of `placement`.
  void add_router(router_actor x) { routers_.push_back(std::move(x)); }

  const std::vector<router_actor>& routers() const noexcept { return routers_; }

  /// The ROUTER of a DID.
  /// @pre there are as many as `places` says
  const router_actor& router_of(const atproto::did& repo) const {
    return routers_[places_.router_of(repo)];
  }

  /// Adds up the values that `f` returns for the partitions.
  template <class F>
  auto sum(F&& f) const {
    decltype(f(root()) + f(root())) out{};
    for (const auto& x : partitions_)
      out += f(*x);
    return out;
  }

  /// Adds up one number of the stores, or of the CONSUMERs.
  uint64_t sum(std::atomic<uint64_t> store_stats::*which) const {
    return sum([which](const auto& x) { return (x.stats.*which).load(); });
  }
  uint64_t sum(std::atomic<uint64_t> consumer_stats::*which) const {
    return sum([which](const auto& x) { return (x.outbox.*which).load(); });
  }

  // -- streams ----------------------------------------------------------------

  void set_upstream(uint32_t id, upstream_actor x) {
    const std::lock_guard guard{mutex_};
    upstream_handles_[id] = std::move(x);
  }

  /// Invalid when there is no such upstream.
  upstream_actor upstream(uint32_t id) const {
    const std::lock_guard guard{mutex_};
    const auto i = upstream_handles_.find(id);
    return i == upstream_handles_.end() ? upstream_actor{} : i->second;
  }

  std::vector<upstream_actor> all_upstreams() const {
    const std::lock_guard guard{mutex_};
    std::vector<upstream_actor> out;
    for (const auto& [id, handle] : upstream_handles_)
      out.push_back(handle);
    return out;
  }

  void clear() {
    for (const auto& x : partitions_)
      x->clear();
    routers_.clear();
    identity = nullptr;
    supervisor = nullptr;
    backup = nullptr;
    const std::lock_guard guard{mutex_};
    upstream_handles_.clear();
  }

private:
  placement places_;
  std::vector<home_ptr> partitions_;
  std::vector<router_actor> routers_;
  mutable std::mutex mutex_;
  std::unordered_map<uint32_t, upstream_actor> upstream_handles_;
};

using context_ptr = std::shared_ptr<context>;

} // namespace weir::actors
