#pragma once

#include "base/crash_point.hpp"
#include "tests/system/kill_network.hpp"

#include <chrono>
#include <cstdint>
#include <ostream>
#include <vector>

namespace weir::tests {

/// Where one kill in two strikes, at any of the first so many passages.
struct kill_target {
  crash_point at{};
  uint64_t passages = 1;
  /// How long its turn may take; an event may lie behind many others.
  std::chrono::seconds patience{2};
};

/// One network, its kills, and what hurts most there.
struct kill_group {
  const char* name = "";
  std::vector<kill_target> targets;
  /// The collections kept are spelled anew in half of the lives: all repos are
  /// fetched again.
  bool refetches = false;
  trouble_kind trouble = trouble_kind::usual;
  /// Everything is there before the first kill: who is deleted before that is
  /// told to nobody.
  bool synced_first = false;
  /// The hosts are listed again and again. Else once, when nothing is known
  /// yet, and no listing mends what a life has missed.
  bool listed = true;
};

std::ostream& operator<<(std::ostream& out, const kill_group& x);

/// They share the kills evenly.
const std::vector<kill_group>& kill_groups();

/// Of all groups together, in `make check`.
inline constexpr uint64_t kills_by_default = 250;

/// From so many kills of its own on a group dies at each of its points.
uint64_t enough_kills(const kill_group& x) noexcept;

} // namespace weir::tests
