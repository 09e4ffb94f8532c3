#pragma once

#include "wire/repos_api.hpp"

#include <cstdint>

/// Options of the configuration that are one of several words.
namespace weir::actors {

/// Which repos are tracked without being added (SYNC-17 to 19).
using tracking_mode = wire::sync_mode;

/// What to do when the upstream says that our cursor is in its future.
enum class future_cursor_policy : uint8_t { reset, stop };

} // namespace weir::actors
