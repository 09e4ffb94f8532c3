#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "storage/format/records.hpp"

#include <cstdint>

namespace weir {

/// What IDENTITY says of a DID. There may be several answers to one question:
/// a document as soon as it is there, a newer one, and then whose its handle
/// is.
struct identity_answer {
  result<storage::identity_row> fact;
  /// The number of the newest question that it answers. Whoever asks numbers
  /// its questions.
  uint64_t asked = 0;
  bool last = true;    ///< No other answer to these questions will come.
  bool settled = true; ///< No newer document will come, a handle at most.
  /// After a failure: asked before this time, it fails again without a look-up.
  steady_time not_before{};
  bool checked = true; ///< False when nobody could tell whose handle it is.
};

} // namespace weir
