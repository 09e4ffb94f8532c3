#pragma once

#include <chrono>

/// Limits of `actors/backup`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

using namespace std::chrono_literals;

/// The longest rest after one piece of a backup. A disk that takes longer for a
/// piece is not spared by waiting more.
constexpr auto backup_rest_max = 1s;

} // namespace weir::limits
