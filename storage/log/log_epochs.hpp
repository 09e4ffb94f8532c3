#pragma once

#include "base/clock.hpp"
#include "base/random.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/records.hpp"

#include <vector>

/// The epochs of the ids that applications see. Operations are numbered without
/// a hole for ever; an older copy of a store that is put back would give the
/// next events numbers that other events had. So it begins an epoch first, in
/// which ids are higher than any that were given (ADR 14).
namespace weir::storage {

/// Name of the row in the meta table.
constexpr const char* log_epochs_row_name = "log_epochs";

/// In order; empty for a store that was never adopted.
result<std::vector<log_epoch>> load_log_epochs(const database& db);

/// Begins an epoch with the next operation, durably. Its ids begin at the number
/// that stands for the second `now` (`limits::adopted_ids_a_second`), so two
/// copies of one backup that are adopted at different times differ. When that
/// number is not larger than the last id, because the clock is behind or an epoch
/// was begun in the same second, they begin at a random distance after the last
/// id, which is at least `limits::adopted_ids_ahead`.
/// @returns the epoch; `ec::limit_reached` when ids would not fit into JSON, or
///          after `limits::log_epochs_max`.
result<log_epoch> begin_log_epoch(database& db, wall_time now,
                                  random_source& random);

} // namespace weir::storage
