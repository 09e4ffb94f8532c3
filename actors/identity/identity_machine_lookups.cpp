#include "actors/identity/identity_machine.hpp"
#include "actors/support/limits.hpp"

#include "actors/support/did_method.hpp"
#include "actors/support/site.hpp"
#include "base/stored_time.hpp"

#include <algorithm>

/// Which DIDs wait for a look-up, whose turn each takes, and which are refused.
namespace weir::actors {

namespace {

result<storage::identity_row> no_room() {
  return fail(ec::limit_reached, "too many identities are being resolved");
}

} // namespace

void identity_machine::answer_all(const atproto::did& repo,
                                  const result<storage::identity_row>& fact,
                                  bool last, steady_time now, effects& out) {
  auto ask = pending_.extract(repo);
  if (!ask.mapped().again.empty()) {
    pending_[repo] = {phase::queued, true, std::move(ask.mapped().again), {},
                      std::move(ask.mapped().by)};
    enter(repo,
          backoff_.knows(repo) ? lookup_cause::retry : lookup_cause::rotation,
          now, out);
  }
  for (const auto who : ask.mapped().waiters)
    out.answers.push_back(
      {{repo, fact, 0, last && !told_later(repo, who)}, who});
}

/// Its last look-up failed recently. A known row is given out; an asker that
/// needs a new one learns that there is none yet.
bool identity_machine::answer_failing(const atproto::did& repo,
                                      const std::vector<waiter_id>& waiters,
                                      bool fresh, steady_time now,
                                      effects& out) {
  const auto until = backoff_.until(repo, now);
  if (!until)
    return false;
  const auto* known = find(repo);
  const auto serves = known != nullptr && known->row && !fresh;
  if (serves) // The waiters already got the known row.
    for (auto& x : out.answers)
      x.last = !told_later(repo, x.to);
  if (!serves)
    put_off(repo, waiters,
            fail(ec::unreachable, "the last look-up failed: "
                                    + std::string{backoff_.cause(repo)}),
            *until, out);
  else if (out.answers.empty())
    put_off(repo, waiters, *known->row, *until, out);
  return true;
}

/// Answers the waiters; another look-up is of no use before `not_before`.
void identity_machine::put_off(const atproto::did& repo,
                               const std::vector<waiter_id>& waiters,
                               const result<storage::identity_row>& fact,
                               steady_time not_before, effects& out) const {
  for (const auto who : waiters) {
    auto& x = out.answers.emplace_back(answer{{repo, fact}, who});
    x.not_before = not_before;
    x.last = !told_later(repo, who);
  }
}

lookup_cause identity_machine::cause_of(const atproto::did& repo, bool fresh,
                                        wall_time wall) const {
  if (backoff_.knows(repo))
    return lookup_cause::retry;
  const auto known = cache_.find(repo);
  if (known == cache_.end() || !known->second.row)
    return lookup_cause::newcomer;
  const auto age = age_of(known->second.at, wall);
  return fresh && age >= limits::identity_current.count()
           ? lookup_cause::rotation
           : lookup_cause::again;
}

/// The host that caused a look-up pays for it with its turn: otherwise a host
/// could use the turns of others with documents of its accounts that name them.
std::string identity_machine::host_of(const atproto::did& repo,
                                      const std::string& by) const {
  if (!by.empty())
    return by;
  const auto known = cache_.find(repo);
  const auto source = identity_source(repo);
  if (source != directory_source || known == cache_.end()
      || !known->second.row || known->second.row->pds.empty())
    return source;
  return site_of(known->second.row->pds);
}

void identity_machine::on_shared(const atproto::did& repo,
                                 const std::string& by) {
  const auto i = pending_.find(repo);
  if (i == pending_.end())
    return;
  i->second.by = by;
  if (i->second.at == phase::queued)
    queue_.share(repo, host_of(repo, by));
}

void identity_machine::queue_fetch(const atproto::did& repo, effects& out,
                                   steady_time now, wall_time wall) {
  auto& ask = pending_.find(repo)->second;
  ask.at = phase::queued;
  enter(repo, cause_of(repo, ask.fresh, wall), now, out);
  run(out, now);
}

/// The directory limited the look-up, which decides nothing about the DID.
/// Those that asked anew meanwhile share the look-up that is still to begin.
/// @pre it is pending, and was being looked up
void identity_machine::wait_again(const atproto::did& repo, effects& out,
                                  steady_time now, wall_time wall) {
  auto& ask = pending_.find(repo)->second;
  ask.fresh |= !ask.again.empty();
  for (const auto who : std::exchange(ask.again, {}))
    add_waiter(ask.waiters, who);
  queue_fetch(repo, out, now, wall);
}

/// @pre it is pending and queued
void identity_machine::enter(const atproto::did& repo, lookup_cause cause,
                             steady_time now, effects& out) {
  const auto i = pending_.find(repo);
  const auto added = queue_.push(repo, cause, host_of(repo, i->second.by));
  if (added.displaced)
    displace(*added.displaced, now, out);
  if (!added.taken)
    refuse(repo, pending_.extract(i).mapped().waiters, room_at(now), out);
}

/// When the DIDs that wait now will probably have been looked up.
steady_time identity_machine::room_at(steady_time now) const {
  using std::chrono::microseconds;
  const std::chrono::duration<double> all{
    static_cast<double>(options_.waiting_max) / options_.per_second};
  return now
         + std::clamp<microseconds>(
           std::chrono::duration_cast<microseconds>(all),
           limits::lookup_pause_min, limits::lookup_pause_max);
}

/// Another DID took its place.
void identity_machine::displace(const atproto::did& repo, steady_time now,
                                effects& out) {
  const auto ask = std::move(pending_.extract(repo).mapped());
  const auto* known = find(repo);
  const auto serves = known != nullptr && known->row && !ask.fresh;
  put_off(repo, ask.waiters,
          serves ? result<storage::identity_row>{*known->row} : no_room(),
          room_at(now), out);
}

/// There is no room. Waiters that already got a known row get nothing more.
void identity_machine::refuse(const atproto::did& repo,
                              const std::vector<waiter_id>& waiters,
                              steady_time not_before, effects& out) {
  if (out.answers.empty())
    return put_off(repo, waiters, no_room(), not_before, out);
  for (auto& x : out.answers)
    x.last = !told_later(repo, x.to);
}

/// Whether the exported row may answer. It counts like a look-up when it was
/// read: it serves first questions, but no asker that needs a newer document.
bool identity_machine::is_served_by_export(const atproto::did& repo) const {
  const auto i = pending_.find(repo);
  if (i == pending_.end() || i->second.fresh || document_is_foreign(repo)
      || i->second.at == phase::fetching || backoff_.knows(repo))
    return false;
  const auto known = cache_.find(repo);
  return known == cache_.end() || !known->second.row;
}

std::vector<atproto::did> identity_machine::served_by_export() const {
  std::vector<atproto::did> out;
  for (const auto& [repo, ask] : pending_)
    if (ask.at == phase::queued && is_served_by_export(repo))
      out.push_back(repo);
  return out;
}

void identity_machine::take_exported(const atproto::did& repo,
                                     storage::identity_row row,
                                     steady_time now, effects& out) {
  queue_.drop(repo);
  out.taken.push_back(repo);
  const wall_time at{row.fetched_at * 1'000'000};
  take_document(repo, std::move(row), at, now, out);
}

/// Starts look-ups as far as the budget and the places allow.
void identity_machine::run(effects& out, steady_time now) {
  while (auto repo = queue_.next(now)) {
    pending_.find(*repo)->second.at = phase::fetching;
    out.fetch.push_back(std::move(*repo));
  }
  out.timer = queue_.due(now);
}

} // namespace weir::actors
