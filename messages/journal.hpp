#pragma once

#include "messages/interfaces.hpp"
#include "storage/format/journal_batch.hpp"
#include "storage/format/update.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace weir {

/// The parts of an open store that may be read from any thread.
///
/// # Ownership and threads
/// Owned by NODE; outlives all actors. Used on READER threads only.
struct store_readers;

/// One repo's change and the frames that are finished with it.
///
/// From: REPO. To: JOURNAL. Travels: local only.
struct journal_update {
  std::shared_ptr<storage::repo_update> update; ///< Moved from.
  std::vector<position> marks;
  bool backfill = false; ///< May wait behind live updates.
  size_t content_bytes = 0;
  repo_actor from;
};

/// The JOURNAL's answer. Travels: local only.
struct repo_receipt {
  std::shared_ptr<const storage::update_receipt> receipt;
};

/// Rows of other tables, in one batch with whatever else waits.
///
/// From: UPSTREAM, IDENTITY, CONSUMER, SUPERVISOR. To: JOURNAL. Travels: local
/// only.
struct journal_rows {
  std::shared_ptr<const storage::journal_batch> rows;
  uint64_t token = 0; ///< Comes back in `rows_durable`.
  rows_sink from;     ///< Empty: no answer is wanted.
};

/// From: JOURNAL. Travels: local only.
struct rows_durable {
  uint64_t token = 0;
};

/// From: ROUTER. To: JOURNAL. Travels: local only.
struct journal_fence {
  atproto::did repo;
  router_actor from;
};

/// `incarnation` is the one the successor must write with.
///
/// From: JOURNAL. To: ROUTER. Travels: local only.
struct journal_fenced {
  atproto::did repo;
  uint64_t incarnation = 0;
};

/// Events of a repo that has no REPO are given up.
///
/// From: ROUTER. To: JOURNAL. Travels: local only.
struct journal_missed {
  atproto::did repo;
  router_actor from;
};

/// The row of the repo says so on disk, if there is one.
///
/// From: JOURNAL. To: ROUTER. Travels: local only.
struct journal_noted {
  atproto::did repo;
};

/// Write what waits. From: JOURNAL itself. Travels: local only.
struct journal_flush {};

/// The log is durable up to and including `id`, and has so many events up to it.
///
/// From: JOURNAL. To: CONSUMER. Travels: local only.
struct log_advanced {
  storage::op_id id = 0;
  uint64_t events = 0;
};

/// A repo was erased: its rows are to be taken off the disk.
///
/// From: JOURNAL. To: SWEEPER. Travels: local only.
struct erase_begun {};

/// One bounded step of erasing a repo.
///
/// From: SWEEPER. To: JOURNAL. Travels: local only.
struct erase_step {
  atproto::did repo;
  sweeper_actor from;
};

/// From: JOURNAL. To: SWEEPER. Travels: local only.
struct erase_stepped {
  bool more = false; ///< Another step is to follow.
  bool busy = false; ///< Updates wait meanwhile.
};

/// What was erased of a repo up to `through` has left the disk.
///
/// From: SWEEPER. To: JOURNAL. Travels: local only.
struct erase_over {
  atproto::did repo;
  storage::op_id through = 0;
};

/// Give up what the store holds in memory only to be faster. From: NODE's eye on
/// room. To: SWEEPER. Travels: local only.
struct release_caches {};

/// Go on. From: SWEEPER itself. Travels: local only.
struct sweep_on {};

/// Work for a READER thread: reads the store, sends its answer itself. `high`
/// latency jobs (wake-ups) and long scans share the pool; keep one job short.
///
/// From: anyone. To: READER. Travels: local only.
struct reader_job {
  std::function<void(store_readers&)> run;
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_update)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_receipt)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_rows)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::rows_durable)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_fence)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_fenced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_missed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_noted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::journal_flush)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::log_advanced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::reader_job)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::erase_begun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::erase_step)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::erase_stepped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::erase_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::release_caches)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::sweep_on)
