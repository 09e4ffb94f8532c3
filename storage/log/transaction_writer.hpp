#pragma once

#include "storage/format/content_block.hpp"
#include "storage/format/hashes.hpp"
#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"

namespace weir::storage {

class database;
class write_batch;

/// The end of the log of a partition.
struct log_tail {
  op_id next = 1;             ///< Id of the next operation.
  atproto::digest previous{}; ///< `block_hash` of the last block, or zeros.
  int64_t written_us = 0;     ///< Time of the last block.
  uint32_t minute = 0;        ///< Last minute of the time index.
  uint64_t events = 0;        ///< Events of the whole log (`is_event_scope`).
};

/// Reads the end of the log from the store. `ec::storage_failure` when the last
/// block is damaged.
result<log_tail> read_log_tail(const database& db, uint16_t partition);

/// Turns transactions into rows: log block, content blocks, stream blocks, time
/// index. Assigns ids, indices, hashes and content numbers.
///
/// # Layout
/// The content number of an operation is its own id, so a number is never used
/// twice, even after an erasing. A content block belongs to one transaction.
/// Operations without a body between two bodies get an empty item.
///
/// # Ownership and threads
/// Borrows the names. One thread.
class transaction_writer {
public:
  transaction_writer(const collection_names& names, uint16_t partition,
                     log_tail tail)
    : names_(names), partition_(partition), tail_(tail) {}

  const log_tail& tail() const noexcept { return tail_; }

  /// Sets the time of the blocks that follow. It never goes back.
  void set_time(int64_t now_us) noexcept;

  /// Appends `tx` and advances the streams of `chain`.
  /// @param replaced For each operation, the one that wrote the version which
  /// it replaces or deletes; 0 for none.
  /// @pre Every scope of `tx` is in `chain.streams` and has an id; `tx` has 1
  /// to `limits::transaction_ops_max` operations.
  result<log_entry_ptr> append(const atproto::did& repo, const transaction& tx,
                               const std::vector<op_id>& replaced,
                               chain_row& chain, write_batch& out);

private:
  struct slot {
    stream_head* head;
    uint32_t scope;
    uint32_t count;
  };

  result<uint32_t> slot_of(const std::string& scope, chain_row& chain,
                           log_block& block);
  void advance(const log_block& block, const new_operation& op, slot& at);
  void put_content(const transaction& tx, log_entry& entry, write_batch& out);
  void put_content_block(const transaction& tx, size_t first, log_entry& entry,
                         write_batch& out);
  result<void> put_block(const log_block& block, write_batch& out);
  void put_streams(const log_block& block, write_batch& out);

  const collection_names& names_;
  uint16_t partition_;
  log_tail tail_;
  log_hasher hasher_;
  content_block_writer content_;
  std::vector<slot> slots_; ///< The slots of the current transaction.
};

} // namespace weir::storage
