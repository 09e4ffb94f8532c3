#pragma once

#include "atproto/stamped_frame.hpp"
#include "atproto/verify.hpp"
#include "base/clock.hpp"
#include "storage/update.hpp"
#include "wire/filter.hpp"

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Events and effects of a repo's rules: plain values.
namespace weir::actors {

/// Settings all repos share; replaced as a whole when they change.
struct repo_settings {
  wire::collection_filter filter;
  uint32_t filter_generation = 1;
  std::chrono::seconds retry_min{60};   ///< SYNC-15
  std::chrono::seconds retry_max{3600}; ///< SYNC-15
  /// `limits::refresh_burst_max` identity refreshes per DID in this time.
  std::chrono::seconds refresh_min{60};
  /// A listed rev may run ahead of the stream for this long.
  std::chrono::seconds listing_grace{10};
};

using repo_settings_ptr = std::shared_ptr<const repo_settings>;

/// What became of an event; counted in `/metrics`.
enum class repo_counter : uint8_t {
  commit_applied,
  commit_filtered, ///< Applied, but no operation passed the filter.
  replayed,
  bad_shape,
  future_rev,
  bad_signature,
  bad_proof,
  unverifiable,
  wrong_host,
  inactive_account,
  out_of_sync, ///< Dropped: the coming fetch contains it.
  buffered,
  buffer_overflow,
  chain_broken,
  sync_applied,
  sync_noop,
  sync_refused,
  identity_changed,
  account_changed,
  identity_unresolved,
  listing_mismatch,
  last_ = listing_mismatch
};

const char* to_string(repo_counter x) noexcept;

/// A repo that wants a fetch: goes to the SUPERVISOR's queue.
struct fetch_wish {
  storage::repo_status status = storage::repo_status::pending;
  int64_t not_before = 0; ///< Unix seconds (back-off), 0 = at once.
};

/// Answer to the SUPERVISOR's question where to fetch from.
struct fetch_ready {
  std::string pds; ///< Empty: cannot be fetched; the repo took the error.
};

/// The repo is durably `syncing`: fetch it now.
struct fetch_order {
  uint64_t job = 0;
  std::string pds;
  atproto::public_key key;
  std::shared_ptr<const storage::chain_row> base; ///< Null: nothing is held.
  storage::op_id erased_through = 0;
  wire::collection_filter filter;
};

/// A part of the difference between what we hold and what was fetched.
struct fetch_chunk {
  uint64_t job = 0;
  atproto::tid rev; ///< Of the fetched root.
  std::vector<storage::new_operation> ops;
};

struct fetch_failure {
  error reason;
  /// Set when the host says that the account is not active.
  std::optional<storage::account_status> account;
};

/// One line of a listing about this repo.
struct listed_repo {
  atproto::tid rev; ///< Undefined when not listed with one.
  storage::account_status account = storage::account_status::active;
  position noted; ///< first_cursor_since_reset before the request.
  uint32_t upstream = 0; ///< Whose listing it is.
};

struct now_time {
  steady_time steady;
  wall_time wall;
};

/// What the shell carries out, in this order.
struct repo_effects {
  std::vector<position> done; ///< Frames that are finished.
  struct outgoing {
    storage::repo_update update;
    std::vector<position> marks; ///< Finished when the update is durable.
    size_t content_bytes = 0;
    bool backfill = false; ///< May wait behind live updates.
  };
  std::optional<outgoing> update;
  bool load_identity = false;    ///< From the cache, or resolved.
  bool refresh_identity = false; ///< Resolved anew.
  std::optional<fetch_wish> wish;
  std::optional<fetch_ready> ready;
  std::optional<fetch_order> order;
  size_t chunks_done = 0; ///< Credit to the BACKFILL.
  /// The job ended: success, failure or cancelled.
  std::optional<result<void>> job_end;
  std::optional<uint64_t> cancel_job; ///< Stop the BACKFILL of this job.
  bool read_buffer = false; ///< Read the next page of the disk buffer.
  std::optional<steady_time> timer;
  std::optional<error> stop; ///< Quit; `ec::none` = in good order.
  bool untrack = false;      ///< The repo was removed.
  std::vector<repo_counter> counted;
};

// -- what a repo_machine keeps ------------------------------------------------

struct waiting_frame {
  atproto::stamped_frame frame;
  steady_time since;
  bool buffered = false; ///< Its mark was given back already.
  bool doubted = false;  ///< The identity was refreshed for its sake.
  atproto::tid rev;      ///< Set when buffered.
};

struct tip_state {
  atproto::tid rev;
  atproto::cid data;
};

struct fetch_job {
  uint64_t id = 0;
  position noted;
  bool durable = false;  ///< The row says `syncing` on disk.
  bool draining = false; ///< Fetched; buffered frames are being applied.
  uint32_t filter_generation = 0; ///< Of the filter that was ordered.
  std::optional<atproto::verified_root> root;
  std::deque<fetch_chunk> chunks;
};

struct suspicion {
  listed_repo seen;
  steady_time due;
};

} // namespace weir::actors
