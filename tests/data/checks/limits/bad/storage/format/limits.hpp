#pragma once

namespace weir::limits {

constexpr size_t one_room_max = 12;

} // namespace weir::limits
