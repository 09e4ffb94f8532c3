#pragma once

#include "base/clock.hpp"

#include <string>

namespace weir::simnet {

/// Formats RFC 3339 in UTC with milliseconds, as in records and frames:
/// `2026-11-20T23:58:46.184Z`. Years 0000 to 9999.
std::string format_datetime(wall_time x);

} // namespace weir::simnet
