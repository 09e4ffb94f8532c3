#include "actors/supervisor/fetch_queue.hpp"

#include "actors/supervisor/limits.hpp"
#include "actors/support/site.hpp"

namespace weir::actors {

namespace {

using storage::repo_status;

std::string lane_of(const atproto::did& repo, const std::string& pds) {
  return pds.empty() ? identity_source(repo) : pds;
}

/// Repos whose waits end within the same second are woken together, at its end.
steady_time end_of_step(steady_time due) {
  constexpr auto step = limits::fetch_wake_step.count();
  return {(due.micros + step - 1) / step * step};
}

bool moved(const fetch_entry& x, const std::string& pds) {
  return !pds.empty() && *x.lane->name != pds;
}

} // namespace

// -- in and out ---------------------------------------------------------------

void fetch_queue::wish(const atproto::did& repo, repo_status status,
                       const std::string& pds, steady_time due,
                       steady_time now) {
  auto* known = find(repo);
  if (known == nullptr) {
    add(repo, status, pds, due, now, true);
    return;
  }
  known->quiet = false;
  if (known->at == fetch_stage::queued || known->at == fetch_stage::delayed)
    known->attended = false; // Its REPO is awake.
  if (known->at == fetch_stage::preparing && known->attended) {
    // This comes before the REPO has done what its row asked for.
    known->again = {status, due};
  } else if (known->at == fetch_stage::queued && moved(*known, pds)) {
    move(*known, pds, now); // Its host is known by now.
    place(*known, now, now);
  } else if (known->at == fetch_stage::delayed
             && (due < known->alarm->first || moved(*known, pds))) {
    if (moved(*known, pds))
      move(*known, pds, now);
    known->status = status;
    place(*known, due, now);
  }
}

void fetch_queue::found(const atproto::did& repo, repo_status status,
                        const std::string& pds, steady_time due,
                        steady_time now, bool quiet) {
  if (find(repo) != nullptr)
    return;
  add(repo, status, pds, due, now, false);
  auto* added = find(repo);
  if (added == nullptr)
    return;
  added->quiet = quiet;
  // No fetch of this repo is under way although its row says so: the row has to
  // be corrected now, and not when the turn of the repo comes.
  added->attended = quiet || status == repo_status::syncing;
}

void fetch_queue::add(const atproto::did& repo, repo_status status,
                      const std::string& pds, steady_time due, steady_time now,
                      bool displaces) {
  const auto name = lane_of(repo, pds);
  if (entries_.size() >= options_.queue_max
      && !make_room(name, due, now, displaces))
    return;
  const auto [i, added] = entries_.try_emplace(repo);
  auto& x = i->second;
  x.repo = &i->first;
  x.status = status;
  lanes_.join(x, name, !pds.empty());
  delay(x, due);
  place(x, due, now);
}

/// Makes room by removing the delayed repo whose time is the last; if there is
/// none, the last repo of a host with more than its share.
bool fetch_queue::make_room(const std::string& lane, steady_time due,
                            steady_time now, bool displaces) {
  const bool waits = due > now;
  if (!alarms_.empty()) {
    const auto last = std::prev(alarms_.end());
    if (!waits || due < last->first) {
      scan.left_out(last->first, last->second->quiet);
      erase(*last->second, now);
      return true;
    }
  }
  if (waits) {
    scan.left_out(due, false);
    return false;
  }
  scan.left_out_now(now);
  auto* excess = displaces && lanes_.fits(lane) ? lanes_.excess() : nullptr;
  if (excess != nullptr)
    erase(*excess, now);
  return excess != nullptr;
}

void fetch_queue::erase(fetch_entry& x, steady_time now) {
  leave(x);
  lanes_.part(x, now);
  entries_.erase(entries_.find(*x.repo));
}

void fetch_queue::finish(fetch_entry& x, steady_time now) {
  const auto again = x.again;
  const auto repo = *x.repo;
  const auto pds = x.lane->is_host() ? *x.lane->name : std::string{};
  erase(x, now);
  if (again)
    add(repo, again->status, pds, again->due, now, true);
}

// -- stages -------------------------------------------------------------------

/// Queues the repo, or delays it until its time and until its host has rested.
/// A wait that is shorter than the scan for retries gets a wake-up, since the
/// scan would find the repo too late.
void fetch_queue::place(fetch_entry& x, steady_time due, steady_time now) {
  leave(x);
  x.identity = nullptr;
  if (x.lane->rest_until > now)
    wake_ups_.insert(x.lane->rest_until);
  due = std::max(due, x.lane->rest_until);
  if (due <= now) {
    lanes_.enter(x, fetch_stage::queued);
    return;
  }
  if (due - now < limits::retry_scan)
    wake_ups_.insert(end_of_step(due));
  delay(x, due);
}

/// Moves the repo to the lane of a host. The caller then places it there.
void fetch_queue::move(fetch_entry& x, const std::string& pds,
                       steady_time now) {
  leave(x);
  lanes_.part(x, now);
  lanes_.join(x, pds, true);
  delay(x, now);
}

void fetch_queue::set_host(fetch_entry& x,
                           std::shared_ptr<const identity_answer> identity,
                           steady_time now) {
  move(x, identity->fact->pds, now);
  x.again.reset(); // The fetch that begins satisfies all wishes so far.
  const auto& lane = *x.lane;
  if (!lanes_.may_be_ready(lane) || lane.rest_until > now) {
    place(x, now, now); // It is looked up again when its turn comes.
    return;
  }
  x.identity = std::move(identity);
  leave(x);
  lanes_.enter(x, fetch_stage::ready);
}

// -- time ---------------------------------------------------------------------

/// Repos that wait for the host give their places to others.
void fetch_queue::rest(fetch_lane& lane, std::chrono::seconds wait,
                       steady_time now) {
  lane.rest_until
    = now + std::min<std::chrono::seconds>(wait, limits::host_rest_max);
  while (!lane.ready.empty())
    place(lane.ready.front(), lane.rest_until, now);
  for (auto& list : lane.queued)
    while (!list.empty())
      place(list.front(), lane.rest_until, now);
}

void fetch_queue::on_timer(steady_time now) {
  wake_ups_.erase(wake_ups_.begin(), wake_ups_.upper_bound(now));
  while (!alarms_.empty() && alarms_.begin()->first <= now)
    place(*alarms_.begin()->second, now, now);
}

} // namespace weir::actors
