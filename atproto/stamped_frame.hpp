#pragma once

#include "atproto/frame.hpp"
#include "base/position.hpp"

namespace weir::atproto {

/// A frame with the place it came from, as it travels from UPSTREAM to REPO.
/// With the stamp nobody has to ask UPSTREAM for its state later
/// (architecture.md, The stages).
struct stamped_frame {
  position at; ///< Position of this frame.
  /// First cursor since the last reset, in the epoch `at.epoch`.
  uint64_t first_cursor = 0;
  bool relay = false; ///< True for a relay, false for a PDS.
  frame_kind kind = frame_kind::unknown;
  did repo;
  /// Empty when the frame was malformed and is stepped over.
  shared_bytes bytes;

  /// The place since which the stream has no hole, as a position.
  position since_reset() const noexcept {
    return {at.upstream, at.epoch, first_cursor};
  }
};

} // namespace weir::atproto
