#pragma once

#include "base/bytes.hpp"

#include <string>

namespace weir::wire {

/// Appends the member `record` with a comma before it to an object that has
/// members. Nothing is appended when the body is empty or no valid record, or
/// when strict clients would refuse the whole text for it
/// (`atproto::json_hazard`).
/// @param body DAG-CBOR.
void append_record_member(bytes_view body, std::string& out);

} // namespace weir::wire
