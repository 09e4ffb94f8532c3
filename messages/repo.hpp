#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/verify.hpp"
#include "messages/frames.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"
#include "storage/format/update.hpp"

#include <string>
#include <vector>

namespace weir {

/// The stored rows of one repo. From: READER. To: REPO.
struct repo_loaded {
  result<storage::repo_state> rows;
};

/// Frames from the sync buffer. From: READER. To: REPO.
struct repo_buffer_page {
  result<std::vector<storage::waiting_on_disk>> frames;
  bool end = true; ///< It is the last page.
};

/// Add repos (SYNC-29). All DIDs belong to the receiving shard.
/// From: api. To: ROUTER, REPO.
struct add_repos {
  std::vector<atproto::did> repos;
  std::vector<std::string> collections;
  /// Set by the ROUTER when events of the repo were finished before it was
  /// tracked. Then the known identity may be old, and the host has at least the
  /// rev `least`.
  bool look_up = false;
  atproto::tid least{};
};

struct add_result {
  uint32_t queued = 0;
};

/// Stop tracking repos (SYNC-30). Otherwise like `add_repos`.
struct remove_repos {
  std::vector<atproto::did> repos;
};

struct remove_result {
  uint32_t removed = 0;
};

/// Fetch repos again (SYNC-33). Otherwise like `add_repos`.
struct resync_repos {
  std::vector<atproto::did> repos;
};

struct resync_result {
  uint32_t queued = 0;
};

/// Asks whether the repo is on disk. After an addition or removal has failed,
/// the ROUTER cannot know. From: ROUTER. To: REPO.
struct ask_tracked {};

struct tracked_reply {
  bool tracked = false;
};

/// Asks the REPO to end. From: ROUTER. To: REPO.
struct passivate_repo {
  /// Too many REPOs are awake: end even with work that the row keeps for later.
  bool must_yield = false;
};

/// The REPO ends; or with `busy` set, it cannot end now.
/// From: REPO. To: ROUTER.
struct repo_passive {
  atproto::did repo;
  bool busy = false;
};

/// Nothing of the repo is on disk any more. From: REPO. To: ROUTER.
struct repo_removed {
  atproto::did repo;
};

/// One line of a listing. From: SUPERVISOR by way of ROUTER. To: REPO.
struct repo_listed {
  atproto::did repo;
  atproto::tid rev; ///< Undefined when the listing does not name one.
  storage::account_status account = storage::account_status::active;
  position noted; ///< Since when its stream had no gap, before the request.
  uint32_t upstream = 0; ///< The upstream that was listed.
  position asked_at{};   ///< Position of its stream before the request.
};

/// The lines of a listing for one shard. With `discover`, unknown DIDs are
/// tracked. From: SUPERVISOR. To: ROUTER.
struct repo_listing {
  std::vector<repo_listed> repos;
  bool discover = false;
};

/// The changes from these lines are durable.
struct listing_taken {};

/// A line of a listing keeps the REPO awake until it is decided (`open`), or
/// does so no longer. From: REPO. To: ROUTER.
struct line_undecided {
  atproto::did repo;
  uint32_t upstream = 0; ///< The upstream that was listed.
  bool open = false;
};

/// The answer to `identity_ask`. There may be several to one question: a
/// document as soon as it is there, a newer one, and then whose its handle is.
/// From: IDENTITY. To: REPO, SUPERVISOR, API.
struct identity_answer {
  atproto::did repo;
  result<storage::identity_row> fact{};
  /// The number of the newest question that it answers. Whoever asks numbers
  /// its questions.
  uint64_t asked = 0;
  bool last = true;    ///< No other answer to these questions will come.
  bool settled = true; ///< No newer document will come, a handle at most.
  /// If asked before this time, a failure comes again without a look-up.
  steady_time not_before{};
  bool checked = true; ///< False when nobody could tell whose handle it is.
};

} // namespace weir
