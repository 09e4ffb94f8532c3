#pragma once

#include "base/bytes.hpp"

namespace weir::atproto {

/// True when a block can be a record: at most `limits::record_bytes_max` bytes
/// and one strict DAG-CBOR map (protocol-coverage.md 2.4, 6). Any other block
/// keeps its place in the tree and is marked undecodable.
bool is_record(bytes_view block);

/// How many bytes the records of a CAR of `car_bytes` may have together. A
/// block that stands at several paths counts for each of them. The factor is
/// `limits::record_repeat_factor_max`.
uint64_t record_bytes_allowed(uint64_t car_bytes) noexcept;

} // namespace weir::atproto
