#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/records.hpp"

#include <optional>

/// The collection filter of a dataset, stored in the configuration table. Reads
/// are safe from any thread.
namespace weir::storage {

/// Name of the row.
constexpr const char* filter_setting = "filter";

/// Returns nothing for a store that no node has used yet, and
/// `ec::storage_failure` when the row is damaged.
result<std::optional<filter_row>>
load_filter(const database& db, uint16_t dataset = default_dataset);

/// The patterns with which a repo was last fetched: its own, or else those of
/// the dataset. Empty means all collections. Returns nothing when the repo was
/// fetched under an earlier filter, whose patterns are no longer known.
/// @param db The store that has the repo.
/// @param root The first store of the data directory, which has the filter.
result<std::optional<std::vector<std::string>>>
kept_collections(const database& db, const database& root,
                 const atproto::did& repo, const repo_row& row,
                 uint16_t dataset = default_dataset);

/// The change that makes `x` the filter, for the committer.
configuration_change filter_change(const filter_row& x,
                                   uint16_t dataset = default_dataset);

} // namespace weir::storage
