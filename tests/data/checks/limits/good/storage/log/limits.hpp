#pragma once

namespace weir::limits {

constexpr size_t of_log_max = 14;

} // namespace weir::limits
