#pragma once

#include <array>
#include <cstdint>
#include <numeric>

namespace weir::storage {

/// Groups of tables, in the words of an operator.
enum class table_family : uint8_t {
  log,       ///< Operations, their order and their proofs.
  content,   ///< Bodies of operations and records.
  records,   ///< Which records exist, and where.
  repos,     ///< State of repos, identities, and frames that wait.
  consumers, ///< What applications have acknowledged, and dead letters.
  other,     ///< Names, settings, positions in streams.
  unsorted,  ///< Bytes of any group that are in no table yet, and overhead.
  last_ = unsorted
};

constexpr size_t table_families = static_cast<size_t>(table_family::last_) + 1;

/// The name in metrics. Never null.
inline const char* to_string(table_family x) noexcept {
  static constexpr std::array<const char*, table_families> names{
    "log", "content", "records", "repos", "consumers", "other", "unsorted"};
  return names[static_cast<size_t>(x)];
}

using family_sizes = std::array<uint64_t, table_families>;

inline uint64_t total_bytes(const family_sizes& x) noexcept {
  return std::accumulate(x.begin(), x.end(), uint64_t{0});
}

} // namespace weir::storage
