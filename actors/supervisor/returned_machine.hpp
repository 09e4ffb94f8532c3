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

/// Which accounts a PDS is asked about because its stream calls them active and
/// nobody tracks them: in signal mode such an account may have had records of the
/// collection before it was away, and the next listing may be a day off. Each is
/// asked about once, one after the other, with a pause of
/// `limits::returned_pause`: a stream that calls many active asks its host for
/// little, and takes nothing from the budget of its listings.
///
/// A host that fails, or asks for time, is left for that time; then the same
/// account is asked about again, `limits::returned_tries_max` times in all.
///
/// # Threads and ownership
/// Part of the SUPERVISOR; no CAF, clock or I/O.
///
/// # Limits
/// `limits::returned_accounts_max` of one PDS wait. Those beyond are left to the
/// next listing.
class returned_machine {
public:
  struct question {
    uint32_t upstream = 0;
    atproto::did repo;
  };

  struct effects {
    std::vector<question> ask; ///< Each is answered.
    std::optional<steady_time> timer;
  };

  /// The stream of a PDS calls an account active that nobody tracks.
  effects on_active(uint32_t upstream, const atproto::did& repo,
                    steady_time now);

  /// Its host has answered, or never will.
  effects on_answer(uint32_t upstream, steady_time now);

  /// It did not answer.
  /// @param wait What it asks for; 0: nothing.
  effects on_failed(uint32_t upstream, std::chrono::seconds wait,
                    steady_time now);

  effects on_timer(steady_time now);

private:
  struct host {
    std::deque<atproto::did> waiting; ///< The first one is asked about.
    bool asked = false;
    size_t tries = 0; ///< Of the first one, that failed.
    steady_time rests_until{};
  };

  effects run(steady_time now);

  std::map<uint32_t, host> hosts_; ///< That are asked or rest, by upstream.
};

} // namespace weir::actors
