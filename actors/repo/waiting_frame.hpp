#pragma once

#include "actors/repo/repo_types.hpp"

#include <optional>

namespace weir::actors {

/// A frame that its repo has not finished yet.
struct waiting_frame {
  atproto::stamped_frame frame;
  steady_time since; ///< Arrival, or the time it came back from disk.
  /// The frame was in the sync buffer, so its position was given back already.
  bool buffered = false;
  bool refreshed = false; ///< The identity was looked up anew for this frame.
  /// Its number in the sync buffer; 0: it was never there.
  uint64_t number = 0;
  /// Set while the frame waits because its rev is later than our clock: since
  /// when.
  std::optional<steady_time> ahead{};
};

/// Whether the next frame may be looked at, or must wait for this one.
enum class frame_step : uint8_t { taken, wait };

/// Counts a refused frame against the upstream that brought it, if that is a
/// PDS. A relay is not responsible for the hosts whose frames it passes on.
inline void charge(const waiting_frame& x, repo_effects& out) {
  if (!x.frame.relay)
    out.refused.push_back(x.frame.at);
}

} // namespace weir::actors
