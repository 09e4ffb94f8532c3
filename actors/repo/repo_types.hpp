#pragma once

#include "actors/support/clock_board.hpp"
#include "actors/support/limits.hpp"
#include "atproto/stamped_frame.hpp"
#include "atproto/verify.hpp"
#include "base/clock.hpp"
#include "messages/account.hpp"
#include "messages/backfill.hpp"
#include "messages/journal.hpp"
#include "storage/format/update.hpp"
#include "wire/filter.hpp"

#include <boost/container/deque.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Events and effects of a repo's rules: plain values.
namespace weir::actors {

class upstream_board;

/// Takes no memory while it is empty, because most repos are idle.
template <class T>
using lazy_deque = boost::container::deque<T>;

/// Settings that all repos share; replaced as a whole when they change.
struct repo_settings {
  wire::collection_filter filter;
  /// Grows with `filter`: a repo indexed under another number is fetched again.
  uint32_t filter_generation = 1;
  /// SYNC-15
  std::chrono::seconds retry_min = limits::retry_backoff_range.standard;
  std::chrono::seconds retry_max = limits::retry_backoff_max_standard;
  /// A DID has at most `limits::refresh_burst_max` look-ups in this time.
  std::chrono::seconds refresh_min = limits::identity_refresh_range.standard;
  /// A listed rev may run ahead of the stream for this long.
  std::chrono::seconds listing_grace = limits::listing_grace_range.standard;
  /// A tombstone counts when it was reported twice, at least this far apart.
  std::chrono::seconds gone_grace = limits::gone_grace_range.standard;
};

using repo_settings_ptr = std::shared_ptr<const repo_settings>;

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

/// The names in the order of `repo_counter`.
inline constexpr std::array repo_counter_names{
  "applied",          "filtered",            "replayed",
  "bad_shape",        "future_rev",          "bad_signature",
  "bad_proof",        "unverifiable",        "wrong_host",
  "inactive_account", "out_of_sync",         "buffered",
  "buffer_overflow",  "chain_broken",        "sync_applied",
  "sync_noop",        "sync_refused",        "identity_changed",
  "account_changed",  "identity_unresolved", "listing_mismatch",
  "update_refused",   "poison",              "record_undecodable",
  "update_bounced"};
static_assert(repo_counter_names.size()
              == static_cast<size_t>(repo_counter::last_) + 1);

/// The moment of an event.
struct now_time {
  steady_time steady;
  wall_time wall;
  const clock_board* clock = nullptr; ///< Null means that `wall` is right.
  const upstream_board* board = nullptr; ///< The origins of the streams.
};

/// A frame that its repo has not finished yet.
struct waiting_frame {
  atproto::stamped_frame frame;
  steady_time since; ///< Arrival, or the time it came back from disk.
  /// The frame was in the sync buffer, so its position was given back already.
  bool buffered = false;
  bool refreshed = false; ///< The identity was looked up anew for this frame.
  /// Its number in the sync buffer; 0: it was never there.
  uint64_t number = 0;
  /// The time since which it waits because its rev is ahead of our clock.
  std::optional<steady_time> ahead{};
};

/// Whether the next frame may be looked at, or must wait for this one.
enum class frame_step : uint8_t { taken, wait };

/// The rev of a commit whose signature is valid: evidence of the time.
struct heard_rev {
  uint32_t upstream = 0; ///< 0: it came by a fetch.
  bool relay = false;
  atproto::tid rev;
  bool sound = true; ///< The rev was acceptable, too.
};

/// A commit that was refused for good.
struct refused_commit {
  uint32_t upstream = 0;
  atproto::refusal why;
  bool wrong_host = false; ///< The document names `other_host`, or no host.
  std::string other_host{};

  /// A number for each reason, for HEALTH. 0 would be no reason.
  uint8_t reason() const noexcept {
    return wrong_host ? UINT8_MAX : static_cast<uint8_t>(why.why) + 1;
  }

  std::string text() const {
    if (wrong_host)
      return "wrong_host: the account's document names "
             + (other_host.empty() ? std::string{"no host"} : other_host);
    std::string out = to_string(why.why);
    return why.reason.empty() ? out : out + ": " + why.reason;
  }
};

/// What the commits of a repo tell about the health and clock of the node.
struct signed_news {
  std::vector<heard_rev> heard;
  std::vector<refused_commit> refused;
};

/// What the actor carries out, in this order.
struct repo_effects {
  std::vector<position> done; ///< Frames that are finished.
  /// Frames whose PDS is to blame for them. They are finished now or later.
  std::vector<position> refused;
  std::optional<journal_update> update;
  bool load_identity = false;    ///< Ask IDENTITY, which may know it.
  bool refresh_identity = false; ///< Ask for a new look-up.
  uint64_t identity_asked = 0;   ///< Number of that question.
  bool share_identity = false;   ///< The awaited answer has one more cause.
  uint32_t identity_cause = 0;   ///< The upstream that is its cause; 0: none.
  std::optional<account_question> ask_host;
  std::optional<repo_wish> wish; ///< The REPO adds the host.
  std::optional<fetch_order> order;
  size_t chunks_done = 0; ///< Credit for the BACKFILL.
  std::optional<job_ended> job_end; ///< A failure stops the BACKFILL.
  /// Read the page of the disk buffer that follows this number.
  std::optional<uint64_t> read_buffer;
  std::optional<steady_time> timer;
  std::optional<error> stop; ///< Quit; `ec::none` means without a failure.
  bool removed = false;      ///< Nothing of the repo is on disk any more.
  std::vector<repo_counter> counted;
  signed_news news;
};

} // namespace weir::actors
