#pragma once

#include "apps/weir/closed_stores.hpp"
#include "tests/sim/performer.hpp"
#include "tests/sim/scene.hpp"

namespace weir::sim {

/// Opens the stores that a node left when it stopped for reading. Throws
/// `broken`.
apps::closed_stores open_stores(scene& x);

/// Stops the node in order and checks what it leaves: the store is consistent,
/// the application was sent every operation of the log, and repos changed their
/// status only in the listed ways. In sound runs only repos that had a reason
/// fell out of sync. Throws `broken`.
void check_remains(scene& x, const performer& done);

} // namespace weir::sim
