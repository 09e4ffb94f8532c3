#include "atproto/record.hpp"

#include "atproto/cbor_walk.hpp"
#include "atproto/limits.hpp"

namespace weir::atproto {

bool is_record(bytes_view block) {
  if (block.empty() || block.size() > limits::record_bytes_max
      || block.front() >> 5 != cbor::major_map)
    return false;
  cbor::null_visitor nothing;
  cbor::walker<cbor::null_visitor> walk{block, {}, nothing};
  return walk.run() == cbor::fault::none && walk.position() == block.size();
}

uint64_t record_bytes_allowed(uint64_t car_bytes) noexcept {
  return limits::record_repeat_factor_max
         * (car_bytes + limits::record_bytes_max);
}

} // namespace weir::atproto
