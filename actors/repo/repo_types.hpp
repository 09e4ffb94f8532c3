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

/// Takes no memory while it is empty, because most repos are idle.
template <class T>
using lazy_deque = boost::container::deque<T>;

/// Settings that all repos share; replaced as a whole when they change.
struct repo_settings {
  wire::collection_filter filter;
  /// Grows with every change of `filter`. A repo that was indexed under another
  /// number is fetched again.
  uint32_t filter_generation = 1;
  /// SYNC-15
  std::chrono::seconds retry_min = limits::retry_backoff_range.standard;
  std::chrono::seconds retry_max = limits::retry_backoff_max_standard;
  /// At most `limits::refresh_burst_max` look-ups of one DID in this time.
  std::chrono::seconds refresh_min = limits::identity_refresh_range.standard;
  /// A listed rev may run ahead of the stream for this long.
  std::chrono::seconds listing_grace = limits::listing_grace_range.standard;
  /// A tombstone counts when the directory reported it twice, at least this far
  /// apart.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
};

using repo_settings_ptr = std::shared_ptr<const repo_settings>;

/// A request to track a repo.
struct addition {
  std::vector<std::string> collections;
  /// Events of the repo were finished before it was tracked, so its identity
  /// may have changed.
  bool look_up = false;
  atproto::tid least{}; ///< The newest rev that those events named.
};

/// What became of an event; `/metrics` counts each kind.
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
  out_of_sync, ///< Dropped, because the coming fetch contains it.
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
  update_refused,     ///< The store will never accept it.
  poison,             ///< Skipped, because it had ended the process.
  record_undecodable, ///< Kept with its path and CID only.
  update_bounced,     ///< Another writer changed its streams: a defect.
  last_ = update_bounced
};

const char* to_string(repo_counter x) noexcept;

/// Number of operations that wrote a block which is no record.
size_t undecodable_in(const std::vector<storage::new_operation>& ops) noexcept;

/// A wish for a fetch of a repo; goes to the queue of the SUPERVISOR.
struct fetch_wish {
  storage::repo_status status = storage::repo_status::pending;
  int64_t not_before = 0; ///< Unix seconds (back-off); 0 means at once.
};

/// A part of the difference between the copy and what was fetched.
struct fetch_chunk {
  uint64_t job = 0;
  atproto::tid rev; ///< Of the fetched root.
  std::vector<storage::new_operation> ops;
};

struct fetch_failure {
  error reason;
  /// Set when the host reports that the account is not active or not there.
  std::optional<storage::account_status> account;
  /// The rev of a root whose only fault is that it is later than our clock.
  atproto::tid ahead{};
};

/// One line of a listing about this repo.
struct listed_repo {
  atproto::tid rev; ///< Undefined when the listing does not name one.
  storage::account_status account = storage::account_status::active;
  position noted;        ///< first_cursor_since_reset before the request.
  uint32_t upstream = 0; ///< The upstream that sent the listing.
  position asked_at{};   ///< Position of its stream before the request.
};

/// One page of the sync buffer on disk.
struct buffer_page {
  error failed; ///< `ec::none` when the frames were read.
  std::vector<storage::waiting_on_disk> frames;
  bool end = false; ///< It was the last one.
};

/// The answer of a host to a question about an account. RepoNotFound twice
/// counts as `deleted`.
struct host_answer {
  std::string pds;
  storage::account_status account = storage::account_status::active;
  /// RepoNotFound for the first time: the host is asked again.
  bool once = false;
  /// Rev of the repo there; undefined when the host did not name it.
  atproto::tid rev{};
  /// first_cursor_since_reset of the accounting upstream before the request.
  position noted{};
  /// The question was asked because the position of the repo is stale.
  bool prove = false;
};

/// The census of all rows found that a repo is not complete, or a listing left
/// the repo out.
struct incompleteness {
  bool unproved = false; ///< Its host sends no rev that could prove it.
  /// A relay whose listings leave the repo out although its host has it; 0:
  /// none.
  uint32_t left_out_by = 0;
};

/// Asks the host for the status of the account.
struct asked_host {
  std::string pds;
  bool not_found = false; ///< The host just answered RepoNotFound to a fetch.
  bool at_once = false;   ///< Even if the host was asked a moment ago.
  /// A user asked for it, or the account has another host.
  bool urgent = false;
};

struct now_time {
  steady_time steady;
  wall_time wall;
  const clock_board* clock = nullptr; ///< Null means that `wall` is right.
};

/// What the actor carries out, in this order.
struct repo_effects {
  std::vector<position> done; ///< Frames that are finished.
  /// Frames that failed verification, for which their PDS is responsible. They
  /// are finished now or later.
  std::vector<position> refused;
  struct outgoing {
    storage::repo_update update;
    std::vector<position> marks; ///< Finished when the update is durable.
    size_t content_bytes = 0;
    bool backfill = false; ///< May wait behind live updates.
  };
  std::optional<outgoing> update;
  bool load_identity = false;    ///< From the cache, or by a look-up.
  bool refresh_identity = false; ///< By a new look-up.
  uint64_t identity_asked = 0;   ///< Number of that question.
  bool share_identity = false;   ///< The awaited answer has one more cause.
  uint32_t identity_cause = 0;   ///< The upstream that is its cause; 0: none.
  std::optional<asked_host> ask_host;
  std::optional<fetch_wish> wish;
  std::optional<fetch_order> order;
  size_t chunks_done = 0; ///< Credit for the BACKFILL.
  struct ended_job {
    uint64_t id = 0;
    result<void> outcome; ///< A failure stops the BACKFILL.
  };
  std::optional<ended_job> job_end;
  /// Read the page of the disk buffer that follows this number.
  std::optional<uint64_t> read_buffer;
  std::optional<steady_time> timer;
  std::optional<error> stop; ///< Quit; `ec::none` means without a failure.
  bool removed = false;      ///< Nothing of the repo is on disk any more.
  std::vector<repo_counter> counted;
  signed_news news;
};

} // namespace weir::actors
