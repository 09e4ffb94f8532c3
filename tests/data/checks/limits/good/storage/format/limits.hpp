#pragma once

namespace weir::limits {

constexpr size_t two_rooms_max = 13;

} // namespace weir::limits
