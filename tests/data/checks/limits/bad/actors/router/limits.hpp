#pragma once

namespace weir::limits {

constexpr size_t of_node_max = 11;

} // namespace weir::limits
