#pragma once

namespace weir::limits {

constexpr size_t router_max = 11;

} // namespace weir::limits
