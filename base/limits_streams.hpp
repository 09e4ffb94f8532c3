#pragma once

#include "base/limits.hpp"

/// Bounds of streams and listings.
namespace weir::limits {

/// A socket that should be read and is not, for so long, is dialled anew
/// (architecture.md 9).
constexpr auto credit_stall_max = 10s;

/// Finished frames of a stream of which the middle one says how far it is: an
/// odd number.
constexpr size_t passed_frames = 31;

} // namespace weir::limits
