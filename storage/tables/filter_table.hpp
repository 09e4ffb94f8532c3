#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/records.hpp"

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

/// Patterns of the collections that a repo was indexed under: its own, else
/// the dataset's; empty = all. Nothing when it was indexed under an earlier
/// filter, of which only the generation is known.
result<std::optional<std::vector<std::string>>>
kept_collections(const database& db, const atproto::did& repo,
                 const repo_row& row, uint16_t dataset = default_dataset);

/// What makes `x` the filter; for the committer.
configuration_change filter_change(const filter_row& x,
                                   uint16_t dataset = default_dataset);

} // namespace weir::storage
