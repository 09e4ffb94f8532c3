#include "storage/disk/compaction.hpp"

namespace weir::storage {

result<compacted> compact_waiting(database& db, const atproto::did& first,
                                  const atproto::did& last) {
  const auto gone = db.purge({range_of<sync_buffer_key>(first).begin,
                              range_of<sync_buffer_key>(last).end});
  if (!gone)
    return gone.error();
  return compacted{0, *gone};
}

result<compacted> compact_content(database& db, uint16_t partition,
                                  content_span which, uint64_t slice_bytes) {
  const auto until = [&](op_id end) {
    return key_range{encode_key(content_block_key{partition, which.first}),
                     encode_key(content_block_key{partition, end + 1})};
  };
  auto end = which.last;
  while (end > which.first && db.approximate_bytes(until(end)) > slice_bytes)
    end = which.first + (end - which.first) / 2;
  const auto gone = db.purge(until(end));
  if (!gone)
    return gone.error();
  return compacted{end == which.last ? 0 : end + 1, *gone};
}

} // namespace weir::storage
