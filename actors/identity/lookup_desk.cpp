#include "actors/identity/lookup_desk.hpp"

#include "actors/support/site.hpp"
#include "base/stored_time.hpp"

#include <utility>

namespace weir::actors {

namespace {

result<storage::identity_row> no_room() {
  return fail(ec::limit_reached, "too many identities are being resolved");
}

/// Answers the waiters; another look-up is of no use before `not_before`.
void put_off(const atproto::did& repo, const std::vector<waiter_id>& waiters,
             const result<storage::identity_row>& fact, steady_time not_before,
             identity_effects& out) {
  for (const auto who : waiters)
    out.answers.emplace_back(identity_effects::answer{{repo, fact}, who})
      .not_before
      = not_before;
}

/// There is no room. Waiters that already got a known row get nothing more.
void refuse(const atproto::did& repo, const std::vector<waiter_id>& waiters,
            steady_time not_before, identity_effects& out) {
  if (out.answers.empty())
    put_off(repo, waiters, no_room(), not_before, out);
}

} // namespace

const lookup_desk::pending_ask*
lookup_desk::find(const atproto::did& repo) const {
  const auto i = pending_.find(repo);
  return i == pending_.end() ? nullptr : &i->second;
}

bool lookup_desk::looked_up_later(const atproto::did& repo,
                                  waiter_id who) const {
  const auto* asked = find(repo);
  return asked != nullptr
         && (has(asked->waiters, who) || has(asked->again, who));
}

void lookup_desk::ask(const atproto::did& repo, waiter_id who, bool fresh,
                      steady_time now, wall_time wall, const std::string& by,
                      effects& out) {
  if (const auto i = pending_.find(repo); i != pending_.end()) {
    // The look-up may have begun before the change that this asker knows of.
    const auto late = fresh && i->second.at == phase::fetching;
    add_waiter(late ? i->second.again : i->second.waiters, who);
    i->second.fresh |= fresh && !late;
    return on_shared(repo, by);
  }
  // Names that nobody knows must not crowd out those that the store knows: DIDs
  // to be read and DIDs to be looked up are counted separately.
  const auto known = cache_.find(repo) != nullptr;
  if ((known || fresh) && answer_failing(repo, {who}, fresh, now, out))
    return;
  if (!known && pending_.size() - queue_.size() >= options_.waiting_max)
    return refuse(repo, {who}, {}, out);
  pending_[repo] = {phase::loading, fresh, {who}, {}, by};
  if (known)
    queue_fetch(repo, now, wall, out);
  else
    out.load.push_back(repo);
}

void lookup_desk::look_up(const atproto::did& repo, steady_time now,
                          wall_time wall, effects& out) {
  if (!backoff_.until(repo, now))
    return queue_fetch(repo, now, wall, out);
  const auto ask = pending_.extract(repo);
  answer_failing(repo, ask.mapped().waiters, ask.mapped().fresh, now, out);
}

steady_time lookup_desk::failed(const atproto::did& repo, const error& why,
                                steady_time now) {
  auto& ask = pending_.find(repo)->second;
  for (const auto who : std::exchange(ask.again, {}))
    add_waiter(ask.waiters, who);
  return backoff_.failed(repo, now, why);
}

void lookup_desk::answer_all(const atproto::did& repo,
                             const result<storage::identity_row>& fact,
                             steady_time now, effects& out) {
  auto ask = pending_.extract(repo);
  if (!ask.mapped().again.empty()) {
    pending_[repo] = {phase::queued, true, std::move(ask.mapped().again), {},
                      std::move(ask.mapped().by)};
    enter(repo,
          backoff_.knows(repo) ? lookup_cause::retry : lookup_cause::rotation,
          now, out);
  }
  for (const auto who : ask.mapped().waiters)
    out.answers.push_back({{repo, fact}, who});
}

/// Its last look-up failed recently. A known row is given out; an asker that
/// needs a new one learns that there is none yet.
bool lookup_desk::answer_failing(const atproto::did& repo,
                                 const std::vector<waiter_id>& waiters,
                                 bool fresh, steady_time now, effects& out) {
  const auto until = backoff_.until(repo, now);
  if (!until)
    return false;
  const auto* known = cache_.find(repo);
  const auto serves = known != nullptr && known->row && !fresh;
  if (!serves)
    put_off(repo, waiters,
            fail(ec::unreachable, "the last look-up failed: "
                                    + std::string{backoff_.cause(repo)}),
            *until, out);
  else if (out.answers.empty()) // Otherwise they already got the known row.
    put_off(repo, waiters, *known->row, *until, out);
  return true;
}

lookup_cause lookup_desk::cause_of(const atproto::did& repo, bool fresh,
                                   wall_time wall) const {
  if (backoff_.knows(repo))
    return lookup_cause::retry;
  const auto* known = cache_.peek(repo);
  if (known == nullptr)
    return lookup_cause::newcomer;
  const auto age = age_of(known->at, wall);
  return fresh && age >= limits::identity_current.count()
           ? lookup_cause::rotation
           : lookup_cause::again;
}

/// The host that caused a look-up pays for it with its turn: otherwise a host
/// could use the turns of others with documents of its accounts that name them.
std::string lookup_desk::host_of(const atproto::did& repo,
                                 const std::string& by) const {
  if (!by.empty())
    return by;
  const auto* known = cache_.peek(repo);
  const auto source = identity_source(repo);
  if (source != directory_source || known == nullptr || known->row->pds.empty())
    return source;
  return site_of(known->row->pds);
}

void lookup_desk::on_shared(const atproto::did& repo, const std::string& by) {
  const auto i = pending_.find(repo);
  if (i == pending_.end())
    return;
  i->second.by = by;
  if (i->second.at == phase::queued)
    queue_.share(repo, host_of(repo, by));
}

void lookup_desk::queue_fetch(const atproto::did& repo, steady_time now,
                              wall_time wall, effects& out) {
  auto& ask = pending_.find(repo)->second;
  ask.at = phase::queued;
  enter(repo, cause_of(repo, ask.fresh, wall), now, out);
  run(now, out);
}

/// Those that asked anew meanwhile share the look-up that is still to begin.
void lookup_desk::wait_again(const atproto::did& repo, steady_time now,
                             wall_time wall, effects& out) {
  auto& ask = pending_.find(repo)->second;
  ask.fresh |= !ask.again.empty();
  for (const auto who : std::exchange(ask.again, {}))
    add_waiter(ask.waiters, who);
  queue_fetch(repo, now, wall, out);
}

/// @pre it is pending and queued
void lookup_desk::enter(const atproto::did& repo, lookup_cause cause,
                        steady_time now, effects& out) {
  const auto i = pending_.find(repo);
  const auto added = queue_.push(repo, cause, host_of(repo, i->second.by));
  if (added.displaced)
    displace(*added.displaced, now, out);
  if (!added.taken)
    refuse(repo, pending_.extract(i).mapped().waiters, room_at(now), out);
}

/// @returns when the DIDs that wait now will probably have been looked up.
steady_time lookup_desk::room_at(steady_time now) const {
  using std::chrono::microseconds;
  const std::chrono::duration<double> all{
    static_cast<double>(options_.waiting_max) / options_.per_second};
  return now
         + std::clamp<microseconds>(
           std::chrono::duration_cast<microseconds>(all),
           limits::lookup_pause_min, limits::lookup_pause_max);
}

/// Another DID took its place.
void lookup_desk::displace(const atproto::did& repo, steady_time now,
                           effects& out) {
  const auto ask = std::move(pending_.extract(repo).mapped());
  const auto* known = cache_.find(repo);
  const auto serves = known != nullptr && known->row && !ask.fresh;
  put_off(repo, ask.waiters,
          serves ? result<storage::identity_row>{*known->row} : no_room(),
          room_at(now), out);
}

/// Whether the exported row may answer. It counts like a look-up when it was
/// read: it serves first questions, but no asker that needs a newer document.
bool lookup_desk::is_served_by_export(const atproto::did& repo) const {
  const auto* ask = find(repo);
  return ask != nullptr && !ask->fresh && !document_is_foreign(repo)
         && ask->at != phase::fetching && !backoff_.knows(repo)
         && cache_.peek(repo) == nullptr;
}

std::vector<atproto::did> lookup_desk::served_by_export() const {
  std::vector<atproto::did> out;
  for (const auto& [repo, ask] : pending_)
    if (ask.at == phase::queued && is_served_by_export(repo))
      out.push_back(repo);
  return out;
}

void lookup_desk::run(steady_time now, effects& out) {
  while (auto repo = queue_.next(now)) {
    pending_.find(*repo)->second.at = phase::fetching;
    out.fetch.push_back(std::move(*repo));
  }
  out.timer = queue_.due(now);
}

} // namespace weir::actors
