#pragma once

#include "base/crash_point.hpp"
#include "tests/system/kill_network.hpp"

#include <chrono>
#include <cstdint>
#include <ostream>
#include <vector>

namespace weir::tests {

/// A point at which one kill in two strikes, in any of the first `passages`
/// passages.
struct kill_target {
  crash_point at{};
  uint64_t passages = 1;
  /// The longest wait for its turn, since an event may be queued behind many.
  std::chrono::seconds patience{2};
};

/// One network, its kills, and the conditions under which they hurt most.
struct kill_group {
  const char* name = "";
  std::vector<kill_target> targets;
  /// In half of the lives the kept collections are spelled differently, so that
  /// all repos are fetched again.
  bool refetches = false;
  trouble_kind trouble = trouble_kind::usual;
  /// Every repo is synced before the first kill. (An account that is deleted
  /// earlier is not delivered at all.)
  bool synced_first = false;
  /// The hosts are listed repeatedly. Otherwise they are listed once, when no
  /// repo is known yet, so that no listing repairs what a life has missed.
  bool listed = true;
};

std::ostream& operator<<(std::ostream& out, const kill_group& x);

/// All groups; they share the kills evenly.
const std::vector<kill_group>& kill_groups();

/// Kills of all groups together in `make check`.
inline constexpr uint64_t kills_by_default = 250;

/// The number of its own kills from which on a group dies at each of its
/// points.
uint64_t enough_kills(const kill_group& x) noexcept;

} // namespace weir::tests
