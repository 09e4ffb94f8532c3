#pragma once

#include "base/clock.hpp"
#include "tests/sim/deeds.hpp"
#include "tests/sim/stepper.hpp"

#include <string>
#include <vector>

namespace weir::sim {

/// Ends single actors of the node as an exception would: by an exit message
/// that no actor can refuse, which arrives after the mail that it has.
///
/// # Ownership and threads
/// Borrows the stepper, which reports each turn to it. One thread.
class deaths {
public:
  explicit deaths(stepper& x);
  ~deaths();

  deaths(const deaths&) = delete;
  deaths& operator=(const deaths&) = delete;

  /// The next actors of a kind that get a turn die, as the deed says.
  void order(const deed& x, steady_time now);

  /// Drops all orders.
  void end() { orders_.clear(); }

private:
  struct death {
    std::string kind;
    size_t count = 0;
    steady_time end;
  };

  void on_turn(caf::scheduled_actor& x, steady_time now);

  stepper& steps_;
  std::vector<death> orders_;
  uint64_t last_ = 0; ///< The actor that died last.
};

} // namespace weir::sim
