#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"

#include <vector>

/// The epochs of the ids that applications see. Operations are always numbered
/// without a gap. So after a backup is restored, new events would get numbers
/// that other events had before. Therefore `weir adopt` begins an epoch first,
/// in which ids are higher than any that were given out (ADR 14).
namespace weir::storage {

/// Name of the row in the meta table.
constexpr const char* log_epochs_row_name = "log_epochs";

/// All epochs in order; empty for a store that was never adopted.
result<std::vector<log_epoch>> load_log_epochs(const database& db);

/// Begins an epoch with the next operation, durably. Its ids begin at a number
/// that grows with the time `now` (`limits::adopted_ids_a_second` for each
/// second), so two copies of one backup that are adopted at different times
/// differ. That number may not be larger than the last id, because the clock is
/// behind or another epoch was begun in the same second. Then ids begin at a
/// random distance, of at least `limits::adopted_ids_ahead`, after the last id.
/// @returns the epoch, or `ec::limit_reached` when ids would not fit into JSON
/// or there are `limits::log_epochs_max` epochs already.
result<log_epoch> begin_log_epoch(database& db, wall_time now,
                                  random_source& random);

} // namespace weir::storage
