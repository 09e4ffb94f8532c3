#pragma once

#include "tests/sim/heap_census.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <functional>
#include <string>

namespace weir::sim {

/// Checks the memory of a node against its bounds. In programs that do not
/// count their heap it checks nothing.
///
/// # Ownership and threads
/// Only one at a time; it must live from before a scene is made until its end.
/// One thread.
class heap_watch {
public:
  heap_watch();

  /// Checks that the peak of each kind of actor since construction is within
  /// its bound, and the sum within the memory plan. Empty: it is.
  std::string check_bounds(const actors::node_config& config) const;

  /// Live bytes of the node.
  heap::census live() const;

  /// The peaks by name.
  heap::census peaks() const;

private:
  heap::heap_scope outside_{tests::heap_of_world};
  heap::census before_; ///< What earlier runs left: tables of libraries.
};

using let_pass = std::function<void(std::chrono::microseconds)>;

/// No growth without input: while nothing happens in the network for hours, the
/// node does not use more memory later than earlier. Empty when that holds.
std::string check_silence(const heap_watch& heap,
                          const actors::node_config& config,
                          const let_pass& run_for);

} // namespace weir::sim
