#pragma once

#include "actors/support/tracking_mode.hpp"
#include "atproto/stamped_frame.hpp"
#include "wire/filter.hpp"

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
  bool discovers(const atproto::stamped_frame& x) const;

  /// True when this frame of an untracked repo calls its account active in mode
  /// `signal`. Its host then has to be asked whether it has older records.
  bool may_return(const atproto::stamped_frame& x) const;

private:
  bool signals(const atproto::stamped_frame& x) const;

  tracking_mode mode_;
  wire::collection_filter signal_;
};

} // namespace weir::actors
