#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

/// A repo's chain with all its streams: the row of the chain, and the rows of
/// streams that are stored apart from it (docs/storage-format.md 3.4).
namespace weir::storage {

/// Loads the chain; null when the repo has none. One read, or two when some
/// streams are stored apart.
/// @returns `ec::storage_failure` when the rows contradict each other.
result<std::shared_ptr<const chain_row>>
load_chain(const database& db, const collection_names& names,
           const atproto::did& repo);

/// Writes the row of the chain, and the rows of those streams apart that
/// changed since `before` (null when there was no chain).
/// @returns `ec::not_found` when a stream's collection has no id.
result<void> put_chain(const atproto::did& repo, const chain_row& x,
                       const chain_row* before, const collection_names& names,
                       write_batch& batch);

} // namespace weir::storage
