#pragma once

#include "apps/weir/closed_stores.hpp"
#include "tests/sim/performer.hpp"
#include "tests/sim/scene.hpp"

namespace weir::sim {

/// The stores that a node left when it stopped, to be read. Throws `broken`.
apps::closed_stores open_stores(scene& x);

/// Stops the node in good order and judges what it leaves: the store agrees with
/// itself, the application was sent every operation of the log, and repos went from
/// one status to another in the listed ways only. In sound runs nobody fell out of
/// sync who was not asked to. Throws `broken`.
void check_remains(scene& x, const performer& done);

} // namespace weir::sim
