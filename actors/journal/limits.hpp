#pragma once

#include <cstddef>

/// Bounds that `actors/journal` keeps. A name says the thing and the unit.
/// The value itself is accepted; value + 1 is refused.
namespace weir::limits {

/// Content bytes a JOURNAL batch takes of backfill work.
constexpr size_t journal_backfill_bytes_max = 262'144;

/// Updates of one JOURNAL batch, and their content bytes.
constexpr size_t journal_updates_max = 1'024;
constexpr size_t journal_bytes_max = 4'194'304;

} // namespace weir::limits
