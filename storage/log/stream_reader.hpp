#pragma once

#include "storage/disk/database.hpp"
#include "storage/log/stored_operation.hpp"

namespace weir::storage {

/// Reads single streams: their operations by index and by time. A stream that
/// does not exist has no operations. Of a stream that was erased, operations
/// are found until SWEEPER has removed its rows; they are marked.
///
/// # Ownership and threads
/// Borrows the database and names. Any number of threads may read at the same
/// time.
///
/// # Errors
/// `ec::cancelled`; `ec::storage_failure` on damage.
class stream_reader {
public:
  stream_reader(const database& db, const collection_names& names,
                uint16_t partition)
    : db_(db), names_(names), partition_(partition) {}

  /// The operation with this index (OPLOG-12). Of the bounds only
  /// `with_content` and `cancelled` count.
  result<std::optional<stored_operation>>
  get(const stream_name& stream, uint64_t index,
      const read_bounds& bounds = {}) const;

  /// The operations after the index `after`, or from the first one on
  /// (OPLOG-13).
  result<operation_page> get_since(const stream_name& stream,
                                   std::optional<uint64_t> after,
                                   const read_bounds& bounds = {}) const;

  /// Those of them whose time is `timestamp_ms` or later (OPLOG-14). Several
  /// may have the same time. Times of a stream may go back, for example when
  /// the clock of the node did, so all of the stream is looked at, page by
  /// page.
  result<operation_page> get_since_time(const stream_name& stream,
                                        int64_t timestamp_ms,
                                        std::optional<uint64_t> after,
                                        const read_bounds& bounds = {}) const;

  /// The index that the next operation gets (OPLOG-31). Reads the stream's last
  /// row and the chain, however long the stream is.
  result<uint64_t> next_index(const stream_name& stream,
                              const read_bounds& bounds = {}) const;

private:
  result<uint64_t>
  next_of_chain(const stream_name& stream,
                const std::optional<stream_block_key>& key) const;
  result<operation_page> read(const stream_name& stream,
                              std::optional<uint64_t> after,
                              std::optional<int64_t> timestamp_ms,
                              const read_bounds& bounds) const;

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
};

} // namespace weir::storage
