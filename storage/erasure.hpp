#pragma once

#include "base/limits.hpp"
#include "storage/database.hpp"

#include <vector>

/// Erasing of what `erased_through` of a repo covers, in bounded steps that go
/// on after a restart (architecture.md 3, Erasing).
namespace weir::storage {

/// Adds one step to `batch`: record heads and their content references first,
/// then the content of every operation but `$account` facts, then the erasure
/// row itself. The log keeps its envelopes. Reads only; nothing else may be
/// written for `repo` between this call and the write of `batch`.
/// @returns false when nothing is left to erase after this step.
result<bool> stage_erase_step(const database& db, uint16_t partition,
                              const atproto::did& repo, size_t rows_max,
                              write_batch& batch);

/// Repos with something left to erase, after `after` (empty = from the start).
result<std::vector<atproto::did>>
repos_to_erase(const database& db, const atproto::did& after,
               size_t limit = limits::repos_page_max);

} // namespace weir::storage
