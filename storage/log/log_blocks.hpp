#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

#include <functional>
#include <optional>

/// Finds and walks the blocks of one partition's log. Any number of threads may
/// read at the same time.
namespace weir::storage {

/// Name of the meta row (`counter`) that says from which operation on none was
/// trimmed. Without the row none was trimmed at all.
constexpr const char* log_whole_from_row = "log_whole_from";

/// Name of the meta row (`counter`) that says how far the contents of replaced
/// versions were erased (`replaced_content.hpp`).
constexpr const char* replaced_through_row = "replaced_through";

/// The contents of versions that operations before this one replaced are
/// erased. Content from this operation on was not erased that way. 1 at first.
result<op_id> replaced_through(const database& db);

/// From this operation on the log has no holes (`log_trim.hpp`).
result<op_id> log_whole_from(const database& db);

/// Whether all operations from `first` on, before `end`, may have been trimmed;
/// otherwise `ec::storage_failure`, which names the first that may not. The row
/// that decides is written with their removal, so call this after they were
/// missed.
result<void> check_trimmed(const database& db, op_id first, op_id end);

/// First id of the block that contains `id`; 0 when there is none.
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
/// operation is ever passed over that was not trimmed.
result<void> each_block(const database& db, uint16_t partition, op_id after,
                        op_id durable, const block_visitor& visit);

} // namespace weir::storage
