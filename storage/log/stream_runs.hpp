#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"
#include "storage/log/stored_operation.hpp"

#include <utility>

/// The rows of one stream: which operations of it each log block has.
namespace weir::storage {

/// A row of a stream, decoded.
struct stored_run {
  uint64_t first_index = 0;
  stream_run run;

  uint64_t end_index() const noexcept { return first_index + run.count; }
};

/// The key of the stream, with index 0; nothing when its collection has no id.
std::optional<stream_block_key> key_of(const stream_name& stream,
                                       const collection_names& names);

/// The rows of the stream, from the one at or before `index` on.
/// @param key The place of the stream; its index does not count.
result<row_reader> runs_from(const database& db, stream_block_key key,
                             uint64_t index);

/// Decodes the row that the reader is on.
result<stored_run> run_at(const row_reader& rows);

/// The last row of the stream that begins at or before `index`.
result<std::optional<stored_run>>
run_before(const database& db, stream_block_key key, uint64_t index);

/// Places of the stream's operations in a block, in order.
/// @returns `ec::storage_failure` when they do not agree with the row.
result<std::vector<size_t>> places_in(const log_block& block,
                                      const stream_block_key& key,
                                      const stored_run& run);

} // namespace weir::storage
