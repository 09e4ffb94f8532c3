#pragma once

#include "storage/format/update.hpp"
#include "storage/log/head_writer.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/repo_guards.hpp"
#include "storage/log/transaction_writer.hpp"

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

namespace weir::storage {

class collection_table;

struct update_options {
  uint16_t partition = 0;
  /// Records larger than this many bytes get content reference rows.
  size_t inline_refs_min = limits::inline_refs_min;
  /// Number of repos whose chain position is kept in memory; about 256 bytes
  /// each.
  size_t guards_max = limits::repo_guards_max;
};

/// Turns the updates of repos into rows of a batch that is written later:
/// judges each one, assigns the ids of its operations, and appends them to the
/// log of the partition.
///
/// # Guards
/// Every update is judged before any row of it is added to the batch: first the
/// fence of its actor, then its resync id, then the revision of its chain
/// (OPLOG-33). An update that fails writes nothing; the others of the group go
/// on.
///
/// # Ownership and threads
/// Borrows the database, the names and the batch. One thread.
///
/// # Limits
/// Limits one transaction (`limits::transaction_ops_max`), the streams of a
/// repo (`limits::repo_streams_max`) and what it keeps in memory (`guards_max`,
/// `limits::fences_max`).
class update_writer {
public:
  /// @param tail The end of the log.
  update_writer(const database& db, collection_table& names, write_batch& batch,
                const update_options& options, const log_tail& tail);

  const log_tail& tail() const noexcept { return log_.tail(); }

  /// Sets the time of the log blocks that follow.
  void set_time(int64_t now_us) noexcept { log_.set_time(now_us); }

  /// @param entries Gets what was appended to the log.
  /// @returns an error when the store cannot be read; then the batch must not
  /// be written.
  result<update_receipt> stage(const repo_update& in,
                               std::vector<log_entry_ptr>& entries);

  /// The batch is in the store.
  void on_written() noexcept { unwritten_buffer_.clear(); }

  /// See `committer::fence`.
  uint64_t fence(const atproto::did& repo);

private:
  op_id last_id() const noexcept { return tail().next - 1; }
  result<void> judge(const repo_update& in, repo_guard& guard,
                     update_receipt& out);
  result<void> learn_chain(const atproto::did& repo, repo_guard& guard);
  result<void> learn_row(const atproto::did& repo, repo_guard& guard);
  result<void> take_names(const repo_update& in,
                          const std::vector<std::string>& fresh,
                          update_receipt& receipt);
  result<std::string> host_of(const repo_update& in) const;
  result<void> stage_rows(const repo_update& in, chain_row& chain,
                          repo_guard& guard,
                          std::vector<log_entry_ptr>& entries);
  result<void> stage_erase(const repo_update& in, chain_row& chain);
  result<void> stage_log(const repo_update& in, chain_row& chain,
                         std::vector<log_entry_ptr>& entries);
  result<void> stage_chain(const repo_update& in, chain_row& chain);
  result<void> stage_row(const repo_update& in, op_id erased_through,
                         repo_guard& guard);
  result<void> stage_buffer(const repo_update& in);

  const database& db_;
  collection_table& names_;
  write_batch& batch_;
  uint16_t partition_;
  transaction_writer log_;
  head_writer heads_;
  repo_guards guards_;
  std::unordered_map<atproto::did, uint64_t> fences_;
  std::map<uint64_t, atproto::did> fence_order_; ///< The oldest goes first.
  uint64_t last_fence_ = 0;
  /// Keys put into the batch, which cannot be read yet.
  std::vector<std::string> unwritten_buffer_;
};

} // namespace weir::storage
