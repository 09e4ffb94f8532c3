#pragma once

#include "actors/router/stream_claims.hpp"
#include "actors/router/tracked_repos.hpp"
#include "actors/support/config_choices.hpp"
#include "atproto/frame.hpp"
#include "atproto/stamped_frame.hpp"
#include "messages/repo.hpp"
#include "wire/filter.hpp"

#include <algorithm>

namespace weir::actors {

/// Decides which frames and lines of listings go to a REPO, and which repos a
/// stream discovers: the rules of the modes for a DID that is not tracked
/// (SYNC-17 to SYNC-19).
///
/// Immutable, so calls from any number of threads are safe.
class tracking_machine {
public:
  /// @param signal Collections that discover a repo, in mode `signal`.
  tracking_machine(tracking_mode mode, wire::collection_filter signal)
    : mode_(mode), signal_(std::move(signal)) {}

  /// True when this frame of an untracked repo starts its tracking. A DID whose
  /// method cannot be resolved is never discovered.
  bool discovers(const atproto::stamped_frame& x) const {
    if (mode_ == tracking_mode::manual || !atproto::supported_did(x.repo.str()))
      return false;
    return mode_ == tracking_mode::full_network || signals(x);
  }

  /// What a frame or a line leads to. A relay has verified what it passes on; a
  /// PDS can name any DID, so its frame of an untracked repo is only a claim.
  enum class step : uint8_t {
    nothing,
    deliver,  ///< The REPO gets it: the repo is tracked.
    add,      ///< The repo is added, and then the REPO gets it.
    add_only, ///< The repo is added, and the line is no news about it.
    claim,    ///< Its host has to confirm that the repo is there.
    ask,      ///< Its host is asked whether it has wanted records.
  };

  /// @param claims If its stream claims the repo, the claim takes what the
  ///        frame says. Null: the frame is only looked at.
  step judge(const atproto::stamped_frame& x, const tracked_repos& tracked,
             stream_claims* claims = nullptr) const {
    if (tracked.contains(x.repo))
      return step::deliver;
    if (!x.relay && claims != nullptr && claims->hear(x))
      return step::nothing;
    if (discovers(x))
      return x.relay ? step::add : step::claim;
    return !x.relay && may_return(x) ? step::ask : step::nothing;
  }

  /// What a line of a listing leads to. A new repo counts as active, and its
  /// first fetch brings the rest: its line is news if it has another status.
  /// @param discover Whether the listing adds repos.
  static step judge(const repo_listed& x, const tracked_repos& tracked,
                    bool discover) {
    if (tracked.contains(x.repo))
      return step::deliver;
    if (!discover)
      return step::nothing;
    return x.account == storage::account_status::active ? step::add_only
                                                        : step::add;
  }

  /// Whether the REPO gets the frame or the line.
  static bool is_for_repo(step x) noexcept {
    return x == step::deliver || x == step::add;
  }

  /// True when this frame of an untracked repo calls its account active in mode
  /// `signal`. Its host then has to be asked whether it has older records.
  bool may_return(const atproto::stamped_frame& x) const {
    if (mode_ != tracking_mode::signal || x.kind != atproto::frame_kind::account
        || !atproto::supported_did(x.repo.str()))
      return false;
    const auto event = atproto::decode_frame(x.bytes.view());
    return event && std::get<atproto::account_event>(*event).active;
  }

private:
  /// Whether the frame creates or updates a record in a signal collection
  /// (SYNC-18). This is checked before any filter.
  bool signals(const atproto::stamped_frame& x) const {
    if (x.kind != atproto::frame_kind::commit)
      return false;
    const auto event = atproto::decode_frame(x.bytes.view());
    if (!event)
      return false;
    const auto& ops = std::get<atproto::commit_event>(*event).ops;
    return std::any_of(ops.begin(), ops.end(), [this](const auto& op) {
      return op.action != atproto::op_action::remove
             && atproto::valid_repo_path(op.path)
             && signal_.matches(atproto::split_path(op.path).collection);
    });
  }

  tracking_mode mode_;
  wire::collection_filter signal_;
};

} // namespace weir::actors
