#pragma once

#include "actors/repo/signed_news.hpp"
#include "actors/support/clock_board.hpp"
#include "actors/support/limits.hpp"
#include "atproto/stamped_frame.hpp"
#include "atproto/verify.hpp"
#include "base/clock.hpp"
#include "messages/fetch_order.hpp"
#include "messages/identity_answer.hpp"
#include "storage/format/update.hpp"
#include "wire/filter.hpp"

#include <boost/container/deque.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Events and effects of a repo's rules: plain values.
namespace weir::actors {

/// Takes no memory until something is in it: most repos are idle.
template <class T>
using lazy_deque = boost::container::deque<T>;

/// Settings all repos share; replaced as a whole when they change.
struct repo_settings {
  wire::collection_filter filter;
  /// Grows with every change of `filter`; repos indexed under another one are
  /// fetched again.
  uint32_t filter_generation = 1;
  /// SYNC-15
  std::chrono::seconds retry_min = limits::retry_backoff_range.standard;
  std::chrono::seconds retry_max = limits::retry_backoff_max_standard;
  /// `limits::refresh_burst_max` identity refreshes per DID in this time.
  std::chrono::seconds refresh_min = limits::identity_refresh_range.standard;
  /// A listed rev may run ahead of the stream for this long.
  std::chrono::seconds listing_grace = limits::listing_grace_range.standard;
  /// A tombstone counts when the directory named it twice, this far apart.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
};

using repo_settings_ptr = std::shared_ptr<const repo_settings>;

/// A repo is to be tracked.
struct addition {
  std::vector<std::string> collections;
  /// Events of it are finished that came before: its identity may have changed.
  bool look_up = false;
  atproto::tid least{}; ///< The newest rev that they told.
};

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
  update_refused, ///< The store will never take it.
  poison,         ///< Stepped over: it had ended the process.
  record_undecodable, ///< Kept by path and CID alone.
  update_bounced,     ///< Somebody else wrote to its streams: a defect.
  last_ = update_bounced
};

const char* to_string(repo_counter x) noexcept;

/// How many of them wrote a block that is no record.
size_t undecodable_in(const std::vector<storage::new_operation>& ops) noexcept;

/// A repo that wants a fetch: goes to the SUPERVISOR's queue.
struct fetch_wish {
  storage::repo_status status = storage::repo_status::pending;
  int64_t not_before = 0; ///< Unix seconds (back-off), 0 = at once.
};

/// A part of the difference between what we hold and what was fetched.
struct fetch_chunk {
  uint64_t job = 0;
  atproto::tid rev; ///< Of the fetched root.
  std::vector<storage::new_operation> ops;
};

struct fetch_failure {
  error reason;
  /// Set when the host says that the account is not active or not there.
  std::optional<storage::account_status> account;
  /// The rev of a root whose only fault is that it is beyond our clock.
  atproto::tid ahead{};
};

/// One line of a listing about this repo.
struct listed_repo {
  atproto::tid rev; ///< Undefined when not listed with one.
  storage::account_status account = storage::account_status::active;
  position noted; ///< first_cursor_since_reset before the request.
  uint32_t upstream = 0; ///< Whose listing it is.
  position asked_at{};   ///< What its stream had brought before the request.
};

/// A page of the sync buffer on disk.
struct buffer_page {
  error failed; ///< `ec::none` when the frames were read.
  std::vector<storage::waiting_on_disk> frames;
  bool end = false; ///< It was the last one.
};

/// What the host said when it was asked; RepoNotFound twice is `deleted`.
struct host_answer {
  std::string pds;
  storage::account_status account = storage::account_status::active;
  bool once = false; ///< RepoNotFound for the first time: it is asked again.
  atproto::tid rev{}; ///< Of its repo there; undefined: it did not say.
  /// first_cursor_since_reset of the accounting upstream before the request.
  position noted{};
  bool prove = false; ///< It was asked because the repo's position is stale.
};

/// A look at all rows found it not complete, or a listing left it out.
struct incompleteness {
  bool unproved = false; ///< Its host has no word that could prove it.
  /// A relay whose listings leave it out, while its host has it; 0: none.
  uint32_t left_out_by = 0;
};

/// Ask the host what the account is there.
struct asked_host {
  std::string pds;
  bool not_found = false; ///< It said RepoNotFound to a fetch just now.
  bool at_once = false;   ///< Even if it was asked a moment ago.
  bool urgent = false;    ///< Somebody asked for it, or it has another host.
};

struct now_time {
  steady_time steady;
  wall_time wall;
  const clock_board* clock = nullptr; ///< Null: `wall` is right.
};

/// What the shell carries out, in this order.
struct repo_effects {
  std::vector<position> done; ///< Frames that are finished.
  /// Frames of hosts that are not what they claim; finished now or later.
  std::vector<position> refused;
  struct outgoing {
    storage::repo_update update;
    std::vector<position> marks; ///< Finished when the update is durable.
    size_t content_bytes = 0;
    bool backfill = false; ///< May wait behind live updates.
  };
  std::optional<outgoing> update;
  bool load_identity = false;    ///< From the cache, or resolved.
  bool refresh_identity = false; ///< Resolved anew.
  uint64_t identity_asked = 0;   ///< The number of that question.
  bool share_identity = false; ///< What is awaited has another cause, too.
  uint32_t identity_cause = 0; ///< The upstream of its cause, 0: none.
  std::optional<asked_host> ask_host;
  std::optional<fetch_wish> wish;
  std::optional<fetch_order> order;
  size_t chunks_done = 0; ///< Credit to the BACKFILL.
  struct ended_job {
    uint64_t id = 0;
    result<void> outcome; ///< A failure stops the BACKFILL.
  };
  std::optional<ended_job> job_end;
  /// Read a page of the disk buffer behind this key.
  std::optional<uint64_t> read_buffer;
  std::optional<steady_time> timer;
  std::optional<error> stop; ///< Quit; `ec::none` = in good order.
  bool removed = false;      ///< Nothing of it is on disk any more.
  std::vector<repo_counter> counted;
  signed_news news;
};

} // namespace weir::actors
