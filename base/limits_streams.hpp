#pragma once

#include "base/limits.hpp"

/// Bounds of streams and listings.
namespace weir::limits {

/// A socket that should be read and is not, for so long, is dialled anew
/// (architecture.md 9).
constexpr auto credit_stall_max = 10s;

} // namespace weir::limits
