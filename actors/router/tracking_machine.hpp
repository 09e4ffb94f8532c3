#pragma once

#include "actors/support/config_choices.hpp"
#include "atproto/frame.hpp"
#include "atproto/stamped_frame.hpp"
#include "storage/format/records.hpp"
#include "wire/filter.hpp"

#include <algorithm>

namespace weir::actors {

/// Decides which repos a stream discovers: the rules of the modes for a DID
/// that is not tracked (SYNC-17 to SYNC-19).
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

  /// What a frame of an untracked repo leads to. A relay has verified what it
  /// passes on; a PDS can name any DID, so its frame is only a claim.
  enum class step : uint8_t {
    nothing,
    add,   ///< The repo is added.
    claim, ///< Its host has to confirm that the repo is there.
    ask,   ///< Its host is asked whether it has wanted records.
  };

  step judge(const atproto::stamped_frame& x) const {
    if (discovers(x))
      return x.relay ? step::add : step::claim;
    return !x.relay && may_return(x) ? step::ask : step::nothing;
  }

  /// Whether a listing's line about a repo that was added by it says more than
  /// that: a new repo counts as active, and its first fetch brings the rest.
  static bool is_news(storage::account_status listed) noexcept {
    return listed != storage::account_status::active;
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
