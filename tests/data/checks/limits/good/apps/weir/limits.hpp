#pragma once

namespace weir::limits {

constexpr size_t of_app_max = 15;

} // namespace weir::limits
