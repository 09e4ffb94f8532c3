#pragma once

#include "tests/sim/deeds.hpp"
#include "tests/sim/scene.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <string>

namespace weir::sim {

/// Nothing is erased too soon: while hosts or the directory say for less than
/// `gone_grace` that accounts are gone, the application is not told so,
/// whatever else happens. This is checked against the application's copy at any
/// time.
///
/// # Ownership and threads
/// One thread.
class kept_watch {
public:
  explicit kept_watch(std::chrono::seconds grace) : grace_(grace) {
    // nop
  }

  /// Records the time of a deed.
  void note(const deed& x, steady_time now);

  /// @returns an account that is deleted for the application, which had records
  /// of it, although it never was deleted; empty: there is none
  std::string check(scene& x);

private:
  std::chrono::microseconds grace_;
  std::set<std::string> held_;       ///< Accounts that had records at any time.
  bool clock_was_wrong_ = false;     ///< Then no time can be compared.
  std::optional<steady_time> first_; ///< When the first wrong answer was given.
  steady_time last_;                 ///< When the last wrong answer ended.
};

} // namespace weir::sim
