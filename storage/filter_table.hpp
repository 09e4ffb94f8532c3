#pragma once

#include "storage/database.hpp"
#include "storage/journal_batch.hpp"
#include "storage/records.hpp"

#include <optional>

/// The collection filter of a dataset, in the configuration table. Reads are
/// safe from any thread.
namespace weir::storage {

/// Name of its row.
constexpr const char* filter_setting = "filter";

/// Nothing in a store that no node has used yet. `ec::storage_failure` when the
/// row is damaged.
result<std::optional<filter_row>>
load_filter(const database& db, uint16_t dataset = default_dataset);

/// What makes `x` the filter; for the committer.
configuration_change filter_change(const filter_row& x,
                                   uint16_t dataset = default_dataset);

} // namespace weir::storage
