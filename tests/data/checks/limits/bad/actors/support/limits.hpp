#pragma once

namespace weir::limits {

constexpr size_t one_actor_max = 10;

} // namespace weir::limits
