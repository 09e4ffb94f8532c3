#pragma once

namespace weir::limits {

constexpr size_t two_actors_max = 10;
constexpr size_t events_standard = 12;
constexpr option_range<size_t> events_range{1, 100, events_standard};

} // namespace weir::limits
