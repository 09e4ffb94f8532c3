#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

#include <functional>
#include <optional>

/// Finds and walks the blocks of one partition's log. Any number of threads may
/// read at the same time.
namespace weir::storage {

/// First id of the block that contains `id`; 0 when the log ends before it.
/// @returns `ec::not_found` when the beginning of the log, with `id`, was
/// removed.
result<op_id> block_of(const database& db, uint16_t partition, op_id id);

/// The block that begins with the operation `first`; nothing when none does.
result<std::optional<log_block>> load_block(const database& db,
                                            uint16_t partition, op_id first);

/// Takes a block and its first id. Returns whether the walk goes on.
using block_visitor
  = std::function<result<bool>(op_id first, const log_block& block)>;

/// Visits the blocks with operations after `after` that end at or before
/// `durable`, in their order. When `after` is inside of a block, the walk
/// begins with that block.
/// @returns `ec::storage_failure` when a block is damaged or missing: no
/// operation is ever passed over.
result<void> each_block(const database& db, uint16_t partition, op_id after,
                        op_id durable, const block_visitor& visit);

} // namespace weir::storage
