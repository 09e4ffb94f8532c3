#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/scene.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace weir::sim {

/// Clients of the node's API that want more than their share, and an
/// application that is absent for a time.
///
/// # Ownership and threads
/// Borrows the scene. One thread.
class clients {
public:
  explicit clients(scene& x) : scene_(x) {
    // nop
  }

  /// @pre a deed of clients: `names`, `bodies` or `leave`
  void perform(const deed& x);

  /// The application is back.
  void mend();

  /// The application has no connection to the node.
  bool app_is_away() const noexcept { return is_away_; }

  /// What an honest client suffered meanwhile; empty: nothing.
  const std::string& wrong() const noexcept { return wrong_; }

private:
  void ask_names(const deed& x);
  void declare_bodies(const deed& x);

  scene& scene_;
  uint64_t last_name_ = 0;
  bool is_away_ = false;
  std::string wrong_;
};

} // namespace weir::sim
