#pragma once

#include <chrono>

/// How long servers may ask us to wait.
namespace weir::limits {

/// Of a wait that is a point in time, when the answer does not say what time it
/// is there: then only our own clock can judge it, which may be wrong.
constexpr std::chrono::minutes undated_retry_wait_max{5};

} // namespace weir::limits
