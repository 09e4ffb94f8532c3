#pragma once

namespace weir::limits {

constexpr size_t frame_bytes_max = 9;

} // namespace weir::limits
