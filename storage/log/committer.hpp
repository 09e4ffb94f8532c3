#pragma once

#include "base/clock.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/head_writer.hpp"
#include "storage/log/repo_guards.hpp"
#include "storage/log/transaction_writer.hpp"

#include <deque>
#include <memory>

namespace weir::storage {

class collection_table;

struct committer_options {
  uint16_t partition = 0;
  /// Bodies above this get content reference rows.
  size_t inline_refs_min = limits::inline_refs_min;
  /// Repos whose chain position is remembered; about 256 bytes each.
  size_t guards_max = limits::repo_guards_max;
};

/// What one `commit` did.
struct commit_result {
  std::vector<update_receipt> receipts; ///< One an update, in their order.
  std::vector<log_entry_ptr> entries;   ///< Appended, in order of ids.
  op_id last = 0; ///< Last id of the log after this commit.
  uint64_t log_events = 0; ///< Events of the log after it: `is_event_scope`.
};

/// The only writer of one partition: makes one batch of a group of updates and
/// the rows that depend on them, assigns ids, and writes it.
///
/// # Guards
/// Every update is judged before anything of it is staged: the actor's fence,
/// the resync id, then the revision of its chain (OPLOG-33).
/// One that fails writes nothing; the others of the group go on.
///
/// # Durability
/// `commit` returns after the whole batch is on disk, all or nothing. After a
/// failed read or write every further call repeats that error: what is on disk
/// shows only after the next open.
///
/// # Ownership and threads
/// Borrows database, names and clock, which outlive it. One thread.
///
/// # Limits
/// The caller bounds a group; this class bounds one transaction
/// (`limits::transaction_ops_max`), the streams of a repo
/// (`limits::repo_streams_max`) and what it remembers
/// (`guards_max`, `limits::fences_max`).
class committer {
public:
  /// Finds the end of the log and the versions in force.
  static result<std::unique_ptr<committer>>
  open(database& db, collection_table& names, const clock& time,
       committer_options options = {});

  /// @returns `ec::disk_full` when no space was left, else
  ///          `ec::storage_failure`.
  result<commit_result> commit(const journal_batch& group);

  /// Drops updates of `repo` that come from older actors, from now on.
  /// @returns the incarnation of the next actor. The caller commits all
  ///          updates it received before first.
  uint64_t fence(const atproto::did& repo);

  /// Events of `repo` are given up that nobody judged. Its row says so durably
  /// when this returns: its next REPO looks its identity and account up and
  /// fetches it. A repo without a row has nothing to miss.
  result<void> note_missed(const atproto::did& repo);

  /// One bounded step of erasing what `erased_through` of `repo` covers
  /// (actors.md, Erasing).
  /// @returns false when only the compaction is left, or nothing at all.
  result<bool> erase_step(const atproto::did& repo,
                          size_t rows_max = limits::erase_step_rows_max);

  /// Its bytes are gone from the disk: forgets that there was an erasing
  /// through this operation.
  /// @returns true when nothing is known of the repo any more.
  result<bool> end_erasure(const atproto::did& repo, op_id through);

  /// Memory that the names of collections hold, about.
  size_t names_bytes() const;

  /// Last id of the log; 0 = empty.
  op_id last_id() const noexcept { return log_.tail().next - 1; }

  /// How many events the log has: `is_event_scope`.
  uint64_t log_events() const noexcept { return log_.tail().events; }

  uint64_t metadata_version() const noexcept { return metadata_version_; }

private:
  committer(database& db, collection_table& names, const clock& time,
            committer_options options, log_tail tail);

  result<commit_result> stage(const journal_batch& group);
  result<void> write(sync_mode sync);
  result<void> learn_versions();
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
  void stage_bytes(const std::string& key, const std::optional<bytes>& value);
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
  std::deque<atproto::did> fence_order_;
  uint64_t last_fence_ = 0;
  uint64_t metadata_version_ = 0;
  error failure_;
  write_batch batch_;
  std::vector<std::string> unwritten_buffer_; ///< Keys put in `batch_`.
};

} // namespace weir::storage
