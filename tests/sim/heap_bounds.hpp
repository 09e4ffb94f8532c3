#pragma once

#include "tests/sim/heap_census.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace weir::sim {

/// What a node may hold in memory, and whether it kept to it. Of programs that
/// do not count their heap nothing is checked.
///
/// # Ownership and threads
/// One at a time, from before a scene to its end. One thread.
class heap_watch {
public:
  heap_watch();

  /// The most that each kind of actor held since then is within its bound, and all
  /// of it within the memory plan. Empty: it is.
  std::string check_bounds(const actors::node_config& config) const;

  /// Live bytes of the node.
  heap::census live() const;

  /// The most of each.
  heap::census peaks() const;

private:
  heap::heap_scope outside_{tests::heap_of_world};
  heap::census before_; ///< What earlier runs left: tables of libraries.
};

using let_pass = std::function<void(std::chrono::microseconds)>;

/// No growth without input: while nothing happens in the network for hours, the
/// node holds no more later than earlier. Empty: so it is.
std::string check_silence(const heap_watch& heap,
                          const actors::node_config& config,
                          const let_pass& run_for);

} // namespace weir::sim
