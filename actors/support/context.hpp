#pragma once

#include "actors/support/account_board.hpp"
#include "actors/support/clock_board.hpp"
#include "actors/support/completeness_census.hpp"
#include "actors/support/doubt_room.hpp"
#include "actors/support/health_board.hpp"
#include "actors/support/intake_board.hpp"
#include "actors/support/placement.hpp"
#include "actors/support/upstream_view.hpp"
#include "base/byte_ledger.hpp"
#include "base/clock.hpp"
#include "base/metrics.hpp"
#include "base/random.hpp"
#include "messages/interfaces.hpp"
#include "wire/event_numbers.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace weir::actors {

/// Who hears that the log advanced. Any thread.
class log_subscribers {
public:
  void add(consumer_actor x);
  void clear();
  std::vector<consumer_actor> all() const;

private:
  mutable std::mutex mutex_;
  std::vector<consumer_actor> list_;
};

/// What every actor of one node shares: the seams, the boards, and the handles
/// of its peers.
///
/// # Ownership and threads
/// Made by NODE, which fills the handles before any event flows and empties
/// them at shutdown (they would keep each other alive). The handles of
/// UPSTREAMs and CONSUMERs change while running and are guarded.
struct context {
  const clock* time = nullptr;
  random_source* random = nullptr;
  metrics_registry metrics;
  wire::event_numbers numbers; ///< Never changes while there are actors.
  std::string log_epoch;       ///< Its name and the log's.
  placement places;            ///< Never changes while there are actors.
  upstream_board upstreams;
  account_board accounts;
  intake_board intake;
  clock_board signers;
  health_board health;
  std::shared_ptr<byte_ledger> memory = std::make_shared<byte_ledger>();
  std::shared_ptr<doubt_room> doubts = std::make_shared<doubt_room>();
  /// Repos that no upstream covers; less than 0: nobody has looked yet.
  std::atomic<int64_t> uncovered{-1};
  completeness_board completeness;

  journal_actor journal;
  sweeper_actor sweeper;
  std::vector<reader_actor> readers;
  supervisor_actor supervisor;
  identity_actor identity;
  log_subscribers subscribers;

  /// In the order of `placement`.
  void add_router(router_actor x) {
    routers_.push_back(std::move(x));
  }

  const std::vector<router_actor>& routers() const noexcept {
    return routers_;
  }

  /// The ROUTER of a DID.
  /// @pre there are as many as `places` says
  const router_actor& router_of(const atproto::did& repo) const {
    return routers_[places.router_of(repo)];
  }

  /// Spreads reads; those of a DID go to the same READER, in order.
  const reader_actor& reader_of(const atproto::did& repo) const {
    return reader_of(atproto::stable_hash(repo.str()));
  }

  /// Spreads reads; equal keys go to the same READER, in order.
  const reader_actor& reader_of(uint64_t key) const {
    return readers[key % readers.size()];
  }

  void set_upstream(uint32_t id, upstream_actor x);

  /// Invalid when there is none.
  upstream_actor upstream(uint32_t id) const;

  std::vector<upstream_actor> all_upstreams() const;

  /// Lets go of all handles.
  void clear();

private:
  std::vector<router_actor> routers_;
  mutable std::mutex mutex_;
  std::unordered_map<uint32_t, upstream_actor> upstream_handles_;
};

using context_ptr = std::shared_ptr<context>;

} // namespace weir::actors
