#pragma once

#include "actors/support/config_choices.hpp"
#include "actors/upstream/limits.hpp"

#include <cstddef>
#include <cstdint>

namespace weir::actors {

struct upstream_options {
  size_t frames_max = limits::upstream_frames_max;
  size_t bytes_max = limits::upstream_bytes_max;
  size_t events_per_second = 0; ///< 0: as many as come.
  future_cursor_policy on_future_cursor = future_cursor_policy::reset;
  /// CONS-16: a first seq after a reconnect that is not cursor + 1 is a reset.
  bool assume_contiguous_seq = false;
};

/// Counters of one upstream since start; metrics show them.
struct upstream_counters {
  uint64_t frames = 0;
  uint64_t bytes = 0;
  uint64_t skipped_bad = 0; ///< Malformed frames stepped over.
  uint64_t skipped_poison = 0; ///< Skipped frames that had ended the process.
  uint64_t resets = 0; ///< Epochs begun: events may have been missed.
  uint64_t too_slow = 0; ///< The host said so and ended the stream.
  uint64_t stalls = 0; ///< Sockets given up: not read without a reason.
};

} // namespace weir::actors
