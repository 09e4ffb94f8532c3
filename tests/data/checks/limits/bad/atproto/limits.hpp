#pragma once

namespace weir::limits {

constexpr size_t of_another_max = 9;

} // namespace weir::limits
