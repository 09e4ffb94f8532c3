#pragma once

#include "atproto/cid.hpp"
#include "storage/format/records.hpp"

#include <string>

namespace weir::storage {

class write_batch;

/// The place of a batch in the log of its partition.
struct batch_place {
  uint16_t partition = 0;
  op_id last = 0;          ///< Last operation of the log after it.
  atproto::digest chain{}; ///< Hash of the last log block after it.
};

/// One group commit as one value that can leave the process: all rows that it
/// puts and erases. A store to which the records of another are applied in
/// their order has the same rows (docs/storage-format.md 5).
std::string encode_batch(const batch_place& at, const write_batch& rows);

} // namespace weir::storage
