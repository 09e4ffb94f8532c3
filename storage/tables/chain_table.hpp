#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

/// A repo's chain with all its streams: the row of the chain, and the rows of
/// the streams that stand apart from it (docs/storage-format.md 3.4).
namespace weir::storage {

/// What is stored; null when the repo has no chain. One read, or two when it
/// has streams that stand apart.
/// @returns `ec::storage_failure` when the rows do not fit together.
result<std::shared_ptr<const chain_row>>
load_chain(const database& db, const collection_names& names,
           const atproto::did& repo);

/// Puts the chain's row, and those of its streams apart that differ from what
/// they were in `before` (null = there was no chain).
/// @returns `ec::not_found` when a stream's collection has no id.
result<void> put_chain(const atproto::did& repo, const chain_row& x,
                       const chain_row* before, const collection_names& names,
                       write_batch& batch);

} // namespace weir::storage
