#pragma once

namespace weir::limits {

constexpr size_t kept_and_tested_max = 1;
constexpr size_t forgotten_max = 2;
constexpr size_t only_tested_max = 3;
constexpr size_t only_kept_max = 4;
/// A member of that name is not the bound.
constexpr auto member_timeout = 5s;
/// Nor is a sentence about limits::commented_max, or a number said twice.
constexpr size_t commented_max = 6;
constexpr size_t said_twice_max = 7;
/// Nor are comparisons of a default with it.
constexpr size_t compared_max = 8;
constexpr size_t compared_with_unset_max = 9;
constexpr size_t scaled_max = 10;
constexpr option_range<double> rate_range{
  0.1, 10};

} // namespace weir::limits
