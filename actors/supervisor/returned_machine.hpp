#pragma once

#include "actors/supervisor/limits.hpp"
#include "actors/supervisor/limits_claims.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/backfill.hpp"
#include "messages/claims.hpp"
#include "net/limits.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
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
  struct effects {
    /// Hosts are asked about these. Each is answered by a later call.
    std::vector<stream_claim> ask{};
    std::vector<stream_claim> claims{}; ///< Their documents are looked up.
    /// The same for accounts that are back and have records of the collection.
    std::vector<stream_claim> returned{};
    std::optional<steady_time> timer{};
  };

  explicit returned_machine(bool signal_mode) : signal_mode_(signal_mode) {}

  /// In signal mode a stream claims DIDs by commits, which do not concern
  /// documents. A claim whose document may have changed is therefore an account
  /// that is active again. While repos are not fetched, such accounts are left
  /// to the next listing.
  effects on_claim(const stream_claim& x, bool backfills, steady_time now) {
    if (!x.anew || !signal_mode_)
      return {.claims = {x}};
    if (!backfills)
      return {};
    auto& waiting = hosts_[x.upstream].waiting;
    if (std::ranges::find(waiting, x.repo) == waiting.end()
        && waiting.size() < limits::returned_accounts_max)
      waiting.push_back(x.repo);
    return run({}, now);
  }

  /// The answer about one account. A host that does not offer this request has
  /// given its final answer.
  effects on_answer(const listing_page& x, steady_time now) {
    effects out;
    const auto fails = x.unanswered > 0
                       || (!x.repos && x.repos.error().code != ec::not_found);
    if (x.repos && !fails)
      for (const auto& line : *x.repos)
        out.returned.push_back({x.upstream, line.repo, true});
    const auto i = hosts_.find(x.upstream);
    if (i == hosts_.end() || !i->second.asked)
      return out;
    auto& of = i->second;
    of.asked = false;
    if (fails)
      of.rests_until = now
                       + std::clamp<std::chrono::seconds>(
                         x.retry_after, limits::claim_retry,
                         limits::retry_wait_max);
    if (!fails || ++of.tries >= limits::returned_tries_max) {
      of.waiting.pop_front();
      of.tries = 0;
      of.rests_until = std::max(of.rests_until, now + limits::returned_pause);
    }
    return run(std::move(out), now);
  }

  effects on_timer(steady_time now) { return run({}, now); }

private:
  struct host {
    std::deque<atproto::did> waiting; ///< The first one is being asked about.
    bool asked = false;
    size_t tries = 0; ///< Failed tries for the first one.
    steady_time rests_until{};
  };

  effects run(effects out, steady_time now) {
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
      out.ask.push_back({upstream, x.waiting.front(), true});
    }
    return out;
  }

  bool signal_mode_;
  /// Hosts that are being asked or rest, by upstream.
  std::map<uint32_t, host> hosts_;
};

} // namespace weir::actors
