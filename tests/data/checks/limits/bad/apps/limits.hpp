#pragma once

namespace weir::limits {

constexpr size_t one_app_max = 13;

} // namespace weir::limits
