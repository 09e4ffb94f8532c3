#pragma once

#include "storage/format/records.hpp"

namespace weir::storage {

/// An erasing that is not finished.
struct open_erasure {
  atproto::did repo;
  erasure_row row;
};

/// How far a compaction came.
struct compacted {
  op_id next = 0;   ///< Content from here on is still to do; 0 when none is.
  bool gone = true; ///< The erased bytes before `next` are off the disk.
};

} // namespace weir::storage
