#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// Nothing is erased too soon: while hosts or the directory say for less than
/// `gone_grace` that accounts are gone, nobody is told so, whatever happens
/// meanwhile. Judged by what the application knows, at any time.
///
/// # Ownership and threads
/// One thread.
class kept_watch {
public:
  explicit kept_watch(std::chrono::seconds grace) : grace_(grace) {
    // nop
  }

  /// What was done at that moment.
  void note(const deed& x, steady_time now);

  /// @returns an account that is deleted for the application, which had records
  /// of it, and never was; empty: there is none.
  std::string check(scene& x);

private:
  std::chrono::microseconds grace_;
  std::set<std::string> held_; ///< Accounts with records, at any time.
  bool clock_was_wrong_ = false; ///< Then no time means anything.
  std::optional<steady_time> first_; ///< When somebody erred first,
  steady_time last_;                 ///< and nobody does any more.
};

} // namespace weir::sim
