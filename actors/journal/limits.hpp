#pragma once

#include <chrono>
#include <cstddef>

/// Limits of `actors/journal`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Content bytes of backfill work in one JOURNAL batch.
constexpr size_t journal_backfill_bytes_max = 262'144;

/// Updates in one JOURNAL batch, and their content bytes.
constexpr size_t journal_updates_max = 1'024;
constexpr size_t journal_bytes_max = 4'194'304;

/// Acks wait at most this long for a batch that is written anyway. A flush for
/// each ack would be half of all flushes of a node that gets some hundred
/// commits a second, and all it could save is that an event comes again after
/// a crash.
constexpr std::chrono::microseconds patient_rows_wait{50'000};

} // namespace weir::limits
