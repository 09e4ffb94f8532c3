#pragma once

#include "storage/disk/database.hpp"

#include <array>
#include <cstdint>

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
const char* to_string(table_family x) noexcept;

using family_sizes = std::array<uint64_t, table_families>;

/// Approximate bytes on disk of each group. Bytes that are still in memory or
/// will be merged away are not counted exactly. It reads some indexes; any
/// thread.
family_sizes store_sizes(const database& db);

uint64_t total_bytes(const family_sizes& x) noexcept;

} // namespace weir::storage
