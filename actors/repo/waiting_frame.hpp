#pragma once

#include "actors/repo/repo_types.hpp"

#include <optional>

namespace weir::actors {

/// A frame that its repo has not finished yet.
struct waiting_frame {
  atproto::stamped_frame frame;
  steady_time since; ///< When it came, or came back from disk.
  /// It was in the sync buffer: its position was given back already.
  bool buffered = false;
  bool refreshed = false; ///< The identity was looked up anew for its sake.
  uint64_t number = 0;    ///< Its place in the sync buffer; 0: never there.
  /// Since when it waits, its rev being ahead of our clock.
  std::optional<steady_time> ahead{};
};

/// Whether the next frame may be looked at, or has to wait for this one.
enum class frame_step : uint8_t { taken, wait };

/// Counts a frame against the upstream that brought it, if that is a PDS. A
/// relay does not answer for the hosts whose frames it passes on.
inline void charge(const waiting_frame& x, repo_effects& out) {
  if (!x.frame.relay)
    out.refused.push_back(x.frame.at);
}

} // namespace weir::actors
