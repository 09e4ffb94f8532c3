#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/verify.hpp"
#include "messages/frames.hpp"
#include "messages/interfaces.hpp"
#include "storage/format/records.hpp"
#include "storage/format/update.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace weir {

/// The stored rows of one repo; no `row`: it is not tracked.
///
/// From: READER. To: REPO. Travels: local only.
struct repo_loaded {
  error failed; ///< `ec::none` when the rows were read.
  std::optional<storage::repo_row> row;
  std::shared_ptr<const storage::chain_row> chain;
  std::optional<storage::member_row> member; ///< In the default dataset.
};

/// From: READER. To: REPO. Travels: local only.
struct repo_buffer_page {
  error failed; ///< `ec::none` when the frames were read.
  std::vector<storage::waiting_on_disk> frames;
  bool end = true;
};

/// Add repos (SYNC-29). All DIDs belong to the receiving shard.
///
/// From: api. To: ROUTER, REPO. Travels: local only.
struct add_repos {
  std::vector<atproto::did> repos;
  std::vector<std::string> collections;
  /// From the ROUTER: events of the repo were finished before it was tracked,
  /// so what is known of its identity may be old, and its host has this rev.
  bool look_up = false;
  atproto::tid least{};
};

struct add_result {
  uint32_t queued = 0;
};

/// Stop tracking repos (SYNC-30). As `add_repos`.
struct remove_repos {
  std::vector<atproto::did> repos;
};

struct remove_result {
  uint32_t removed = 0;
};

/// Fetch repos again (SYNC-33). As `add_repos`.
struct resync_repos {
  std::vector<atproto::did> repos;
};

struct resync_result {
  uint32_t queued = 0;
};

/// Whether the repo is on disk: nobody knows whether an addition or a removal
/// is that failed.
///
/// From: ROUTER. To: REPO. Travels: local only.
struct ask_tracked {};

struct tracked_reply {
  bool tracked = false;
};

/// From: ROUTER. To: REPO. Travels: local only.
struct passivate_repo {
  bool crowded = false; ///< There are too many: what is only wished goes, too.
};

/// The REPO ends (`busy` false), or will not now.
///
/// From: REPO. To: ROUTER. Travels: local only.
struct repo_passive {
  atproto::did repo;
  bool busy = false;
};

/// Nothing of the repo is on disk any more.
///
/// From: REPO. To: ROUTER. Travels: local only.
struct repo_removed {
  atproto::did repo;
};

/// One line of a listing.
///
/// From: SUPERVISOR by way of ROUTER. To: REPO. Travels: local only.
struct repo_listed {
  atproto::did repo;
  atproto::tid rev;
  storage::account_status account = storage::account_status::active;
  position noted;
  uint32_t upstream = 0; ///< Whose listing it is.
  position asked_at{};   ///< What its stream had brought before the request.
};

/// Lines of a listing for one shard. `discover`: track unknown DIDs.
///
/// From: SUPERVISOR. To: ROUTER. Travels: local only.
struct repo_listing {
  std::vector<repo_listed> repos;
  bool discover = false;
};

/// What the lines changed is durable.
struct listing_taken {};

/// The REPO stays awake because of what a listing said, or does so no more.
///
/// From: REPO. To: ROUTER. Travels: local only.
struct listing_doubt {
  atproto::did repo;
  uint32_t upstream = 0; ///< Whose listing it is.
  bool open = false;
};

/// From: IDENTITY. To: REPO, SUPERVISOR. Travels: local only.
struct identity_fact {
  atproto::did repo;
  error failed; ///< `ec::none` when `row` holds.
  storage::identity_row row;
  uint64_t asked = 0; ///< The newest question that was heard.
  bool last = true;   ///< To that one and those before no more is to come.
  bool settled = true;    ///< No newer document is to come.
  steady_time not_before{}; ///< Of a failure: asked before, it fails again.
  bool checked = true; ///< False when nobody could tell whose handle it is.
};

/// Run-time settings changed. From: NODE. Travels: local only.
struct settings_changed {
  std::shared_ptr<const void> settings; ///< `repo_settings`.
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_loaded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_buffer_page)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::add_repos)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::add_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::remove_repos)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::remove_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::resync_repos)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::resync_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::ask_tracked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::tracked_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::passivate_repo)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_passive)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_removed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_listed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::repo_listing)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::listing_taken)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::listing_doubt)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::identity_fact)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::settings_changed)
