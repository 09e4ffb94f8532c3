#pragma once

#include "storage/format/records.hpp"

namespace weir::storage {

/// An erasing that is not over.
struct open_erasure {
  atproto::did repo;
  erasure_row row;
};

/// How far a compaction came.
struct compacted {
  op_id next = 0;   ///< Content from here on is left; 0 = none is.
  bool gone = true; ///< What was erased is off the disk, up to there.
};

} // namespace weir::storage
