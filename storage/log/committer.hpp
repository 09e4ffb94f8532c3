#pragma once

#include "base/clock.hpp"
#include "storage/disk/database.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/log/log_trim.hpp"
#include "storage/log/replaced_content.hpp"
#include "storage/log/update_writer.hpp"

#include <functional>
#include <memory>
#include <string>

namespace weir::storage {

class collection_table;

struct committer_options {
  update_options updates{};
  /// Gets the record of each batch (batch_record.hpp) before the store does,
  /// and so before anybody hears of it. An error ends the writer like a failed
  /// write. Empty: no record is made. Nobody sets it yet (docs/adr/0029).
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
/// # Durability
/// `commit` returns when the whole batch is on disk, all or nothing. After a
/// failed read or write every further call repeats that error. Whether the
/// failed batch is on disk shows only after the next open.
///
/// # Ownership and threads
/// Borrows the database, names and clock, which outlive it. One thread.
///
/// # Limits
/// The caller limits the size of a group; `update_writer` has the other limits.
class committer {
public:
  /// Finds the end of the log.
  static result<std::unique_ptr<committer>>
  open(database& db, collection_table& names, const clock& time,
       committer_options options = {});

  /// @param sync With `relaxed`, a power failure may take this group and those
  /// after it, up to the next durable one.
  /// @returns `ec::disk_full` when no space was left, otherwise
  /// `ec::storage_failure`.
  result<commit_result> commit(const journal_batch& group,
                               sync_mode sync = sync_mode::durable);

  /// Begins to refuse updates of `repo` from its present and earlier actors.
  /// The caller must first commit all updates that it received before.
  /// @returns the incarnation of the next actor.
  uint64_t fence(const atproto::did& repo) { return updates_.fence(repo); }

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

  // The calls that make the log smaller. They are not synced: a power failure
  // undoes them, and they are done again. A failed read is no failure of the
  // writer: nothing was written.

  /// Removes these blocks of the log, but only those that are spent
  /// (log_trim.hpp).
  /// @param used As in `log_needs`.
  result<trimmed_log> trim(const std::vector<op_id>& firsts, bool used);

  /// Does one bounded step of erasing the contents that operations before
  /// `until` replaced (replaced_content.hpp).
  /// @param used As in `log_needs`.
  result<replaced_step>
  erase_replaced(op_id until, bool used,
                 size_t ops_max = limits::replaced_step_ops_max);

  /// The bytes of everything that these two removed have left the disk.
  result<void> end_purge();

  /// Whether every further call repeats an error.
  bool failed() const noexcept { return failure_.code != ec::none; }

  /// Approximate memory of the names of collections, in bytes.
  size_t names_bytes() const;

  /// Last id of the log; 0 when it is empty.
  op_id last_id() const noexcept { return updates_.tail().next - 1; }

  /// Number of events in the log (`is_event_scope`).
  uint64_t log_events() const noexcept { return updates_.tail().events; }

private:
  committer(database& db, collection_table& names, const clock& time,
            committer_options options, log_tail tail);

  result<commit_result> stage(const journal_batch& group);
  result<void> write(sync_mode sync);
  template <class Done>
  result<Done> finish(result<Done> staged);
  error broken(error why);

  database& db_;
  collection_table& names_;
  const clock& clock_;
  committer_options options_;
  error failure_;
  write_batch batch_;
  update_writer updates_;
  op_id kept_after_ = 0; ///< See `stage_replaced`.
};

} // namespace weir::storage
