#pragma once

#include <cstddef>

/// Bounds of single frames of a stream, beside that of all frames.
namespace weir::limits {

/// An #account or #identity: a DID, a time, a handle or a state, and room for
/// fields to come. A longer one is malformed.
constexpr size_t notice_frame_bytes_max = 65'536;

} // namespace weir::limits
