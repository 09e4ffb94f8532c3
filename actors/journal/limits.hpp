#pragma once

#include <cstddef>

/// Limits of `actors/journal`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Content bytes of backfill work in one JOURNAL batch.
constexpr size_t journal_backfill_bytes_max = 262'144;

/// Updates in one JOURNAL batch, and their content bytes.
constexpr size_t journal_updates_max = 1'024;
constexpr size_t journal_bytes_max = 4'194'304;

} // namespace weir::limits
