#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"

namespace weir::storage {

/// What one read of the log may give.
struct log_page {
  size_t ops_max = limits::log_page_ops_max;
  size_t bytes_max = limits::log_page_bytes_max; ///< `bytes_held`.
  bool with_content = true;
};

/// A stored block as readers see it, without bodies.
result<std::shared_ptr<log_entry>> make_entry(op_id first, const log_block& x,
                                              const collection_names& names);

/// Reads the log of one partition. All entries are whole transactions: when
/// `after` lies inside one, the first entry begins at or before it. A page
/// stops before its bounds are passed, but gives at least one entry.
///
/// # Ownership and threads
/// Borrows database and names; any number of threads may read at once.
///
/// # Errors
/// `ec::not_found` when operations after `after` are gone for ever (a
/// consumer must start from a snapshot), `ec::storage_failure` on damage.
class log_reader {
public:
  log_reader(const database& db, const collection_names& names,
             uint16_t partition)
    : db_(db), names_(names), partition_(partition) {
    // nop
  }

  /// Entries after `after` that end at or before `durable`.
  result<std::vector<log_entry_ptr>> read(op_id after, op_id durable,
                                          const log_page& page = {}) const;

  /// The same of one repo; `chain` names its streams.
  result<std::vector<log_entry_ptr>> read_repo(const atproto::did& repo,
                                               const chain_row& chain,
                                               op_id after, op_id durable,
                                               const log_page& page = {}) const;

  /// The transaction that holds `id`, without bodies; null when there is none.
  result<log_entry_ptr> find(op_id id) const;

private:
  struct filling;

  result<op_id> block_of(op_id id) const;
  result<bool> add(filling& to, op_id first, std::string_view value) const;
  result<void> add_bodies(log_entry& entry) const;
  result<void> mark_erased(const log_block& block, log_entry& entry) const;
  result<std::vector<op_id>> blocks_after(const stream_block_key& stream,
                                          uint64_t next_index, op_id after,
                                          size_t limit) const;

  const database& db_;
  const collection_names& names_;
  uint16_t partition_;
};

} // namespace weir::storage
