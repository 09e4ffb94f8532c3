#pragma once

#include "base/clock.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/head_writer.hpp"
#include "storage/log/repo_guards.hpp"
#include "storage/log/transaction_writer.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>

namespace weir::storage {

class collection_table;

struct committer_options {
  uint16_t partition = 0;
  /// Records larger than this many bytes get content reference rows.
  size_t inline_refs_min = limits::inline_refs_min;
  /// Number of repos whose chain position is kept in memory; about 256 bytes
  /// each.
  size_t guards_max = limits::repo_guards_max;
  /// Gets the record of each batch (batch_record.hpp) before the store does,
  /// and so before anybody hears of it. An error ends the writer like a failed
  /// write. Empty: no record is made.
  std::function<result<void>(const std::string& record)> hand_over{};
};

/// The result of one `commit`.
struct commit_result {
  /// One for each update, in their order.
  std::vector<update_receipt> receipts;
  /// What was appended, in the order of ids.
  std::vector<log_entry_ptr> entries;
  op_id last = 0; ///< Last id of the log after this commit.
  /// Number of events in the log after it (`is_event_scope`).
  uint64_t log_events = 0;
};

/// The only writer of one partition. It turns a group of updates into one
/// batch, together with the rows that depend on them, assigns ids, and writes
/// the batch.
///
/// # Guards
/// Every update is judged before any row of it is added to the batch: first the
/// fence of its actor, then its resync id, then the revision of its chain
/// (OPLOG-33). An update that fails writes nothing; the others of the group go
/// on.
///
/// # Durability
/// `commit` returns when the whole batch is on disk, all or nothing. After a
/// failed read or write every further call repeats that error. Whether the
/// failed batch is on disk shows only after the next open.
///
/// # Ownership and threads
/// Borrows the database, names and clock, which outlive it. One thread.
///
/// # Limits
/// The caller limits the size of a group. This class limits one transaction
/// (`limits::transaction_ops_max`), the streams of a repo
/// (`limits::repo_streams_max`) and what it keeps in memory (`guards_max`,
/// `limits::fences_max`).
class committer {
public:
  /// Finds the end of the log.
  static result<std::unique_ptr<committer>>
  open(database& db, collection_table& names, const clock& time,
       committer_options options = {});

  /// @returns `ec::disk_full` when no space was left, otherwise
  /// `ec::storage_failure`.
  result<commit_result> commit(const journal_batch& group);

  /// From now on refuses updates of `repo` from its present and earlier actors.
  /// The caller must first commit all updates that it received before.
  /// @returns the incarnation of the next actor.
  uint64_t fence(const atproto::did& repo);

  /// Records that events of `repo` were dropped before anybody judged them.
  /// When this returns, the repo's row says so durably; its next REPO then
  /// looks up identity and account and fetches the repo. Without a row nothing
  /// was missed.
  result<void> note_missed(const atproto::did& repo);

  /// Does one bounded step of erasing what `erased_through` of `repo` covers
  /// (docs/storage-format.md 5.1).
  /// @returns false when no rows are left to erase; then at most the compaction
  /// is.
  result<bool> erase_step(const atproto::did& repo,
                          size_t rows_max = limits::erase_step_rows_max);

  /// Removes the erasure row, if it still belongs to the erasing up to
  /// `through`. Call it when the erased bytes are gone from the disk.
  /// @returns true when nothing is known of the repo any more.
  result<bool> end_erasure(const atproto::did& repo, op_id through);

  /// Approximate memory of the names of collections, in bytes.
  size_t names_bytes() const;

  /// Last id of the log; 0 when it is empty.
  op_id last_id() const noexcept { return log_.tail().next - 1; }

  /// Number of events in the log (`is_event_scope`).
  uint64_t log_events() const noexcept { return log_.tail().events; }

private:
  committer(database& db, collection_table& names, const clock& time,
            committer_options options, log_tail tail);

  result<commit_result> stage(const journal_batch& group);
  result<void> write(sync_mode sync);
  error broken(error why);

  // -- one update (committer_update.cpp) --------------------------------------
  result<update_receipt> stage_update(const repo_update& in,
                                      commit_result& out);
  result<void> judge(const repo_update& in, repo_guard& guard,
                     update_receipt& out);
  result<void> learn_chain(const atproto::did& repo, repo_guard& guard);
  result<void> learn_row(const atproto::did& repo, repo_guard& guard);
  result<void> take_names(const repo_update& in,
                          const std::vector<std::string>& fresh,
                          update_receipt& receipt);
  result<std::string> host_of(const repo_update& in) const;
  result<void> stage_erase(const repo_update& in, chain_row& chain);
  result<void> stage_log(const repo_update& in, chain_row& chain,
                         commit_result& out);
  result<void> stage_chain(const repo_update& in, chain_row& chain);
  result<void> stage_row(const repo_update& in, op_id erased_through,
                         repo_guard& guard);
  result<void> stage_buffer(const repo_update& in);

  // -- rows beside the updates (committer_rows.cpp) ---------------------------
  void stage_others(const journal_batch& group);
  void stage_export(const journal_batch& group);
  void stage_setting(const configuration_change& x);
  void stage_listing(const listing_change& x);
  void stage_consumer(const consumer_change& x);

  database& db_;
  collection_table& names_;
  const clock& clock_;
  committer_options options_;
  transaction_writer log_;
  head_writer heads_;
  repo_guards guards_;
  std::unordered_map<atproto::did, uint64_t> fences_;
  std::map<uint64_t, atproto::did> fence_order_; ///< The oldest goes first.
  uint64_t last_fence_ = 0;
  error failure_;
  write_batch batch_;
  /// Keys put into `batch_`, which cannot be read yet.
  std::vector<std::string> unwritten_buffer_;
};

} // namespace weir::storage
