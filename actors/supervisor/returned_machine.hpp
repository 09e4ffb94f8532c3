#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

namespace weir::actors {

/// Decides about which accounts a PDS is asked because its stream calls them
/// active and they are not tracked. In signal mode such an account may have had
/// records of the collection before it was away, and the next listing may be a
/// day off. Each account is asked about once, one after the other, with a pause
/// of `limits::returned_pause`: so a stream that calls many accounts active
/// causes few requests to its host, and uses nothing of the budget of its
/// listings.
///
/// A host that fails, or asks us to wait, is left alone for that time. Then the
/// same account is asked about again, `limits::returned_tries_max` times in
/// all.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
///
/// `limits::returned_accounts_max` accounts of one PDS wait. Accounts beyond
/// that are left to the next listing.
class returned_machine {
public:
  struct question {
    uint32_t upstream = 0;
    atproto::did repo;
  };

  struct effects {
    std::vector<question> ask; ///< Each question is answered by a later call.
    std::optional<steady_time> timer;
  };

  /// The stream of a PDS calls an account active that is not tracked.
  effects on_active(uint32_t upstream, const atproto::did& repo,
                    steady_time now);

  /// The host has answered, or never will.
  effects on_answer(uint32_t upstream, steady_time now);

  /// The host did not answer.
  /// @param wait The time for which it asks; 0: none.
  effects on_failed(uint32_t upstream, std::chrono::seconds wait,
                    steady_time now);

  effects on_timer(steady_time now);

private:
  struct host {
    std::deque<atproto::did> waiting; ///< The first one is being asked about.
    bool asked = false;
    size_t tries = 0; ///< Failed tries for the first one.
    steady_time rests_until{};
  };

  effects run(steady_time now);

  /// Hosts that are being asked or rest, by upstream.
  std::map<uint32_t, host> hosts_;
};

} // namespace weir::actors
