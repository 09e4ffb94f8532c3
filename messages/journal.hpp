#pragma once

#include "base/position.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/update.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weir {

/// The parts of an open store that any thread may read.
///
/// # Ownership and threads
/// NODE owns it; it outlives all actors. Only READER threads use it.
struct store_readers;

/// One change of a repo, and the frames that are finished with it.
/// From: REPO. To: JOURNAL.
struct journal_update {
  /// JOURNAL moves its content out.
  std::shared_ptr<storage::repo_update> update;
  std::vector<position> marks;
  bool backfill = false; ///< It may wait until live updates are written.
  size_t content_bytes = 0;
};

/// The JOURNAL's answer.
struct repo_receipt {
  std::shared_ptr<const storage::update_receipt> receipt;
};

/// Rows of other tables, which are written in one batch with everything else
/// that waits. From: UPSTREAM, IDENTITY, CONSUMER, SUPERVISOR. To: JOURNAL.
struct journal_rows {
  std::shared_ptr<const storage::journal_batch> rows;
  uint64_t token = 0; ///< It is repeated in `rows_durable`.
};

/// The rows are durable. From: JOURNAL.
struct rows_durable {
  uint64_t token = 0;
};

/// A REPO died: drop its late updates. From: ROUTER. To: JOURNAL.
struct journal_fence {
  atproto::did repo;
};

/// Answer to `journal_fence`. The next REPO writes with `incarnation`.
/// From: JOURNAL. To: ROUTER.
struct journal_fenced {
  atproto::did repo;
  uint64_t incarnation = 0;
};

/// Events of a repo without a REPO were dropped. From: ROUTER. To: JOURNAL.
struct journal_missed {
  atproto::did repo;
};

/// The repo's row, if there is one, says durably that events were dropped.
/// From: JOURNAL. To: ROUTER.
struct journal_noted {
  atproto::did repo;
};

/// Write what is waiting. From: JOURNAL itself.
struct journal_flush {};

/// The log is durable up to and including `id`. Up to there it has `events`
/// events. From: JOURNAL. To: CONSUMER.
struct log_advanced {
  storage::op_id id = 0;
  uint64_t events = 0;
};

/// A repo was erased, so its rows must be removed from the disk.
/// From: JOURNAL. To: SWEEPER.
struct erase_begun {};

/// Orders one bounded step of erasing a repo. From: SWEEPER. To: JOURNAL.
struct erase_step {
  atproto::did repo;
};

/// The result of a step. From: JOURNAL. To: SWEEPER.
struct erase_stepped {
  bool more = false; ///< Another step must follow.
  bool busy = false; ///< Updates are waiting.
};

/// The erased content of a repo up to `through` has left the disk.
/// From: SWEEPER. To: JOURNAL.
struct erase_over {
  atproto::did repo;
  storage::op_id through = 0;
};

/// Remove these blocks of the log, given by their first ids, if they are still
/// spent and no consumer needs them. From: SWEEPER. To: JOURNAL.
struct trim_log {
  std::vector<storage::op_id> firsts;
};

/// What was removed of them. From: JOURNAL. To: SWEEPER.
struct log_trimmed {
  uint64_t operations = 0;
};

/// Do one bounded step of erasing the contents that operations before `until`
/// replaced. From: SWEEPER. To: JOURNAL.
struct erase_replaced {
  storage::op_id until = 0;
};

/// What that step did. From: JOURNAL. To: SWEEPER.
struct replaced_erased {
  uint64_t contents = 0;
  bool more = false;   ///< Another step must follow.
  bool failed = false; ///< The store could not be read; nothing was written.
};

/// The bytes of all contents that were erased or trimmed have left the disk.
/// From: SWEEPER. To: JOURNAL.
struct content_purged {};

/// Free the memory that the store uses only to be faster.
/// From: the part of NODE that watches memory. To: SWEEPER.
struct release_caches {};

/// Continue. From: SWEEPER itself.
struct sweep_on {};

/// Work for a READER thread. It reads the store and sends its answer itself.
/// Urgent reads (wake-ups) and long scans share the threads, so keep each job
/// short. From: anyone. To: READER.
struct reader_job {
  std::function<void(store_readers&)> run;
};

} // namespace weir
