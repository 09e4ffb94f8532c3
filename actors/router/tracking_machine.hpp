#pragma once

#include "actors/support/tracking_mode.hpp"
#include "atproto/stamped_frame.hpp"
#include "wire/filter.hpp"

namespace weir::actors {

/// Which repos a stream discovers: the rules of the modes for a DID that is not
/// tracked (SYNC-17 to SYNC-19).
///
/// Thread-safe as any value.
class tracking_machine {
public:
  /// @param signal Collections that discover a repo, in mode `signal`.
  tracking_machine(tracking_mode mode, wire::collection_filter signal)
    : mode_(mode), signal_(std::move(signal)) {
    // nop
  }

  /// True when the frame of an untracked repo begins its tracking. A DID of a
  /// method we cannot resolve never does.
  bool discovers(const atproto::stamped_frame& x) const;

  /// True when the frame of an untracked repo calls its account active in mode
  /// `signal`: its host is to say whether it has records that are older.
  bool may_return(const atproto::stamped_frame& x) const;

private:
  bool signals(const atproto::stamped_frame& x) const;

  tracking_mode mode_;
  wire::collection_filter signal_;
};

} // namespace weir::actors
