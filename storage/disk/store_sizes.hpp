#pragma once

#include "storage/disk/database.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace weir::storage {

/// Tables that belong together, in the words of an operator.
enum class table_family : uint8_t {
  log,       ///< Operations, their order and what proves it.
  content,   ///< What operations and records consist of.
  records,   ///< Which records there are now, and where.
  repos,     ///< State of repos, identities, and what waits for a fetch.
  consumers, ///< What applications have acknowledged, and dead letters.
  other,     ///< Names, settings, positions in streams.
  unsorted,  ///< Of all of them, written and not in a table yet; and overhead.
  last_ = unsorted
};

constexpr size_t table_families = static_cast<size_t>(table_family::last_) + 1;

/// For metrics. Never null.
const char* to_string(table_family x) noexcept;

using family_sizes = std::array<uint64_t, table_families>;

/// Bytes on disk of each family, about: what is still in memory, or will be
/// merged away, is not known to the byte. Some reads of indexes; any thread.
family_sizes store_sizes(const database& db);

uint64_t total_bytes(const family_sizes& x) noexcept;

} // namespace weir::storage
