#pragma once

#include "base/bytes.hpp"

namespace weir::atproto {

/// True when a block may stand for a record: at most
/// `limits::record_bytes_max` bytes and one strict DAG-CBOR map (protocol.md
/// 2.4, 6). Any other block keeps its place in the tree and is undecodable.
bool is_record(bytes_view block);

} // namespace weir::atproto
