#pragma once

#include "atproto/frame.hpp"
#include "base/position.hpp"

namespace weir::atproto {

/// A frame with where it came from, as one travels from UPSTREAM to REPO. The
/// stamp makes reading the UPSTREAM's state unnecessary (architecture.md, The
/// stages).
struct stamped_frame {
  position at;               ///< Of this frame.
  uint64_t first_cursor = 0; ///< First cursor since reset, in `at.epoch`.
  bool relay = false;        ///< Else the stream of a PDS.
  frame_kind kind = frame_kind::unknown;
  did repo;
  shared_bytes bytes; ///< None: it was stepped over.

  /// The upstream's first_cursor_since_reset as a position.
  position since_reset() const noexcept {
    return {at.upstream, at.epoch, first_cursor};
  }
};

} // namespace weir::atproto
