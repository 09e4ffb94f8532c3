#pragma once

#include <cstddef>

/// Limits of `storage/verify`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Records that are compared at once.
constexpr size_t fold_records_max = 262'144;

} // namespace weir::limits
