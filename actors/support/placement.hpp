#pragma once

#include "atproto/identifiers.hpp"
#include "wire/position.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace weir::actors {

/// Decides where the repos of a node live: the partition of a DID, whose store
/// keeps the repo, and the ROUTER there that works on it. Nothing else decides
/// this: a second rule that disagreed would give one repo two REPOs.
///
/// Each partition has the same number of ROUTERs. The ROUTERs of a node are
/// counted from 0, partition after partition.
///
/// # Threads
/// Never changes; any thread.
class placement {
public:
  /// One partition with one ROUTER.
  placement() = default;

  /// @param routers_each ROUTERs of each partition.
  /// @pre both are greater than 0
  placement(uint16_t partitions, size_t routers_each) noexcept
    : partitions_(partitions), routers_each_(routers_each) {}

  uint16_t partitions() const noexcept { return partitions_; }

  /// ROUTERs of all partitions.
  size_t routers() const noexcept { return partitions_ * routers_each_; }

  /// Rendezvous hashing: each partition draws a number for the DID, and the
  /// highest wins. Data directories depend on the outcome, which therefore
  /// stays as it is for ever (PlacementTest.StaysAsItIsOnDisk).
  uint16_t partition_of(const atproto::did& repo) const noexcept {
    return partition_of_hash(atproto::stable_hash(repo.str()));
  }

  /// The number of the DID's ROUTER among those of the node.
  size_t router_of(const atproto::did& repo) const noexcept {
    const auto hash = atproto::stable_hash(repo.str());
    return partition_of_hash(hash) * routers_each_ + hash % routers_each_;
  }

  /// The partition in whose log an event with this id can be.
  uint16_t partition_of_event(uint64_t id) const noexcept {
    const auto place = wire::place_of(id, partitions_);
    return place ? place->partition : 0;
  }

  /// Divides DIDs, or lines that have a DID in `repo`, by their ROUTERs: a
  /// message for each ROUTER that gets any, in the order given.
  template <class Part, class Items>
  std::map<size_t, Part> by_router(const Items& items) const {
    std::map<size_t, Part> out;
    for (const auto& x : items) {
      if constexpr (requires { x.repo; })
        out[router_of(x.repo)].repos.push_back(x);
      else
        out[router_of(x)].repos.push_back(x);
    }
    return out;
  }

  size_t first_router(uint16_t partition) const noexcept {
    return partition * routers_each_;
  }

private:
  uint16_t partition_of_hash(uint64_t hash) const noexcept {
    uint16_t out = 0;
    uint64_t highest = 0;
    for (uint16_t i = 0; partitions_ > 1 && i < partitions_; ++i)
      if (const auto drawn = draw(hash, i); drawn > highest) {
        highest = drawn;
        out = i;
      }
    return out;
  }

  /// The finaliser of SplitMix64: its result is independent of the part of the
  /// hash that `router_of` uses within a partition.
  static uint64_t draw(uint64_t hash, uint64_t partition) noexcept {
    auto x = hash + (partition + 1) * 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  uint16_t partitions_ = 1;
  size_t routers_each_ = 1;
};

} // namespace weir::actors
