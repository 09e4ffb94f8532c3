#pragma once

#include "wire/repos_api.hpp"

namespace weir::actors {

/// Which repos are tracked without being added (SYNC-17 to 19).
using tracking_mode = wire::sync_mode;

} // namespace weir::actors
