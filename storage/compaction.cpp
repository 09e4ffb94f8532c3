#include "storage/compaction.hpp"

namespace weir::storage {

void compact_waiting(database& db) {
  db.compact(range_of<sync_buffer_key>());
}

op_id compact_content(database& db, uint16_t partition, op_id first,
                      op_id last, uint64_t slice_bytes) {
  const auto until = [&](op_id end) {
    return key_range{encode_key(content_block_key{partition, first}),
                     encode_key(content_block_key{partition, end + 1})};
  };
  auto end = last;
  while (end > first && db.approximate_bytes(until(end)) > slice_bytes)
    end = first + (end - first) / 2;
  db.compact(until(end));
  return end == last ? 0 : end + 1;
}

} // namespace weir::storage
