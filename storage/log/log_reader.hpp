#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"
#include "storage/log/limits.hpp"

namespace weir::storage {

/// How much one read of the log may return.
struct log_page {
  size_t ops_max = limits::log_page_ops_max;
  /// Measured with `bytes_held`.
  size_t bytes_max = limits::log_page_bytes_max;
  bool with_content = true;
  /// For a consumer, its `consumer_row::current_before`: from this operation on
  /// no version is outdated, because what came later is kept for it.
  op_id current_before = UINT64_MAX;
};

/// Makes what readers get from a stored block. It has no bodies yet.
result<std::shared_ptr<log_entry>> make_entry(op_id first, const log_block& x,
                                              const collection_names& names);

/// Reads the log of one partition. Entries are whole transactions: when `after`
/// is inside of one, the first entry begins at or before `after`. A page ends
/// before a limit would be passed, but has at least one entry.
///
/// # Ownership and threads
/// Borrows the database and names. Any number of threads may read at the same
/// time.
///
/// # Trimming
/// Operations that were trimmed are left out (`log_trim.hpp`): a page may have
/// holes before `log_whole_from`, and none behind it. Versions of records
/// before it that are not current are marked as outdated, and so are those
/// whose content is erased.
///
/// # Errors
/// `ec::storage_failure` on damage.
class log_reader {
public:
  log_reader(const database& db, const collection_names& names,
             uint16_t partition)
    : db_(db), names_(names), partition_(partition) {}

  /// Returns entries after `after` that end at or before `durable`.
  result<std::vector<log_entry_ptr>> read(op_id after, op_id durable,
                                          const log_page& page = {}) const;

  /// The same for one repo, whose streams `chain` names.
  result<std::vector<log_entry_ptr>> read_repo(const atproto::did& repo,
                                               const chain_row& chain,
                                               op_id after, op_id durable,
                                               const log_page& page = {}) const;

  /// Finds the transaction that contains `id`, without bodies; null when there
  /// is none.
  result<log_entry_ptr> find(op_id id) const;

private:
  struct filling;

  result<bool> add(filling& to, op_id first, const log_block& block) const;
  result<void> add_bodies(log_entry& entry) const;
  result<void> mark_erased(const log_block& block, log_entry& entry) const;
  result<void> mark_outdated(const log_block& block, log_entry& entry) const;
  result<std::vector<op_id>> blocks_after(const stream_block_key& stream,
                                          uint64_t next_index, op_id after,
                                          size_t limit) const;

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
};

} // namespace weir::storage
