#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "net/limits.hpp"

#include <algorithm>
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
/// causes few requests to its host, and uses none of its listings' budget.
///
/// A host that fails, or asks us to wait, is left alone for that time. Then the
/// account is asked about again, `limits::returned_tries_max` times in all.
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
                    steady_time now) {
    auto& x = hosts_[upstream];
    if (std::ranges::find(x.waiting, repo) == x.waiting.end()
        && x.waiting.size() < limits::returned_accounts_max)
      x.waiting.push_back(repo);
    return run(now);
  }

  /// The host has answered, or never will.
  effects on_answer(uint32_t upstream, steady_time now) {
    const auto i = hosts_.find(upstream);
    if (i == hosts_.end() || !i->second.asked)
      return {};
    auto& x = i->second;
    x.waiting.pop_front();
    x.asked = false;
    x.tries = 0;
    x.rests_until = std::max(x.rests_until, now + limits::returned_pause);
    return run(now);
  }

  /// The host did not answer.
  /// @param wait The time for which it asks; 0: none.
  effects on_failed(uint32_t upstream, std::chrono::seconds wait,
                    steady_time now) {
    const auto i = hosts_.find(upstream);
    if (i == hosts_.end() || !i->second.asked)
      return {};
    auto& x = i->second;
    x.rests_until = now
                    + std::clamp<std::chrono::seconds>(
                      wait, limits::claim_retry, limits::retry_wait_max);
    if (x.tries + 1 >= limits::returned_tries_max)
      return on_answer(upstream, now);
    ++x.tries;
    x.asked = false;
    return run(now);
  }

  effects on_timer(steady_time now) { return run(now); }

private:
  struct host {
    std::deque<atproto::did> waiting; ///< The first one is being asked about.
    bool asked = false;
    size_t tries = 0; ///< Failed tries for the first one.
    steady_time rests_until{};
  };

  effects run(steady_time now) {
    effects out;
    std::erase_if(hosts_, [now](const auto& of) {
      return of.second.waiting.empty() && now >= of.second.rests_until;
    });
    for (auto& [upstream, x] : hosts_) {
      if (x.asked || x.waiting.empty())
        continue;
      if (now < x.rests_until) {
        out.timer = std::min(out.timer.value_or(x.rests_until), x.rests_until);
        continue;
      }
      x.asked = true;
      out.ask.push_back({upstream, x.waiting.front()});
    }
    return out;
  }

  /// Hosts that are being asked or rest, by upstream.
  std::map<uint32_t, host> hosts_;
};

} // namespace weir::actors
