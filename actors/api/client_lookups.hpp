#pragma once

#include "actors/api/limits.hpp"
#include "actors/support/health_machine.hpp"
#include "actors/support/limits.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/stored_time.hpp"
#include "base/token_bucket.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace weir::actors {

/// An answer of IDENTITY, for clients: when the directory is misconfigured or
/// lost its documents, its answer decides nothing about a DID.
inline result<storage::identity_row>
fact_of(const result<storage::identity_row>& said,
        const std::vector<health_finding>& causes) {
  if (said)
    return said;
  const auto wrong = std::ranges::find_if(causes, [](const auto& y) {
    return y.cause == health_cause::directory
           && y.level == health_level::failing;
  });
  if (said.error().code == ec::not_found && wrong != causes.end())
    return fail(ec::unreachable,
                "the directory fails: " + wrong->error + "; /readyz has more");
  return said;
}

/// Whether a row was read recently enough to be given out.
inline bool is_fresh(const storage::identity_row& row, wall_time wall) {
  return age_of(row.fetched_at, wall)
         < std::chrono::seconds{limits::identity_fresh}.count();
}

/// Clients that wait for a look-up of `/resolve`. The node needs its look-ups
/// for the repos that it follows, so clients have a share: a number a second
/// and a number at the same time. Further clients get 429 at once. All clients
/// that ask for one DID share one look-up. No CAF, no clock, no I/O.
class client_lookups {
public:
  /// Called once. `ec::rate_limited`: there are too many look-ups now;
  /// `ec::limit_reached`: there was no answer in time.
  using answer = std::function<void(const result<storage::identity_row>&)>;

  /// @param per_second Look-ups a second of the whole node.
  explicit client_lookups(double per_second)
    : budget_(per_second * limits::resolve_share,
              per_second * limits::resolve_share) {}

  /// Returns true when IDENTITY must be asked.
  bool add(const atproto::did& repo, answer to, steady_time now) {
    const auto known = waiting_.find(repo);
    if (clients_ >= limits::resolve_waiting_max
        || (known == waiting_.end() && !budget_.take(now))) {
      to(fail(ec::rate_limited, "too many look-ups now; try again later"));
      return false;
    }
    ++clients_;
    const auto [i, added] = waiting_.try_emplace(repo);
    i->second.clients.push_back(std::move(to));
    if (added)
      i->second.until = now + limits::resolve_wait;
    return added;
  }

  /// Takes an answer of IDENTITY. An old row counts only if it is the last one.
  void on_fact(const atproto::did& repo,
               const result<storage::identity_row>& fact, bool last,
               wall_time wall) {
    if (!fact || is_fresh(*fact, wall))
      answer_all(repo, fact);
    else if (last)
      answer_all(repo, fail(ec::unreachable,
                            "what is known of it is out of date"));
  }

  /// Answers clients that have waited too long.
  void on_timer(steady_time now) {
    for (;;) {
      const auto late = std::ranges::find_if(waiting_, [now](const auto& x) {
        return x.second.until <= now;
      });
      if (late == waiting_.end())
        return;
      answer_all(
        atproto::did{late->first},
        fail(ec::limit_reached,
             "there is no answer yet: other look-ups go first, or the "
             "directory limits this node (see /readyz); try again later"));
    }
  }

  void clear() { waiting_.clear(); }

  size_t clients() const noexcept { return clients_; }

  /// @returns when `on_timer` must be called.
  std::optional<steady_time> due() const {
    std::optional<steady_time> out;
    for (const auto& [repo, x] : waiting_)
      if (!out || x.until < *out)
        out = x.until;
    return out;
  }

private:
  struct wait {
    std::vector<answer> clients;
    steady_time until;
  };

  void answer_all(const atproto::did& repo,
                  const result<storage::identity_row>& fact) {
    const auto found = waiting_.extract(repo);
    if (found.empty())
      return;
    clients_ -= found.mapped().clients.size();
    for (const auto& to : found.mapped().clients)
      to(fact);
  }

  std::map<atproto::did, wait> waiting_;
  size_t clients_ = 0;
  token_bucket budget_;
};

} // namespace weir::actors
