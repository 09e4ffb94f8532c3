#include "actors/supervisor/fetch_queue.hpp"

#include "actors/support/site.hpp"

namespace weir::actors {

namespace {

using storage::repo_status;

/// Never fetched before out of sync before failed (actors.md, Who is fetched
/// next).
size_t priority_of(repo_status status) noexcept {
  switch (status) {
    case repo_status::pending:
    case repo_status::syncing:
      return 0;
    case repo_status::desync:
    case repo_status::synced:
      return 1;
    case repo_status::error:
      return 2;
  }
  return 2;
}

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
    // This comes before the REPO finishes its errand.
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
  x.alarm = alarms_.emplace(due, &x);
  join(x, name, !pds.empty());
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
  const auto own = lanes_.find(lane);
  const auto fits = own == lanes_.end()
                    || own->second.queued_count
                         < fair_share(options_.queue_max);
  if (!waits && displaces && fits && !crowded_.empty()) {
    auto& from = crowded_.front()->queued;
    const auto list = std::find_if(from.rbegin(), from.rend(), [](auto& x) {
      return !x.empty();
    });
    scan.left_out_now(now);
    erase(list->back(), now);
    return true;
  }
  if (waits)
    scan.left_out(due, false);
  else
    scan.left_out_now(now);
  return false;
}

void fetch_queue::erase(fetch_entry& x, steady_time now) {
  leave(x);
  part(x, now);
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
    enter(x, fetch_stage::queued);
    return;
  }
  if (due - now < options_.retry_scan)
    wake_ups_.insert(end_of_step(due));
  x.alarm = alarms_.emplace(due, &x);
  x.at = fetch_stage::delayed;
}

void fetch_queue::enter(fetch_entry& x, fetch_stage to) {
  auto& lane = *x.lane;
  x.at = to;
  count(x, true);
  if (to == fetch_stage::queued) {
    const auto priority = priority_of(x.status);
    lane.queued[priority].push_back(x);
    sit(lane, priority);
  } else if (to == fetch_stage::ready) {
    lane.ready.push_back(x);
    sit(lane, permits);
  }
}

/// Takes the repo out of its stage; the caller puts it into the next one.
void fetch_queue::leave(fetch_entry& x) {
  auto& lane = *x.lane;
  if (x.is_linked())
    x.unlink();
  count(x, false);
  if (x.at == fetch_stage::delayed)
    alarms_.erase(x.alarm);
  else if (const auto priority = priority_of(x.status);
           x.at == fetch_stage::queued && lane.queued[priority].empty())
    stand_up(lane, priority);
  else if (x.at == fetch_stage::ready && lane.ready.empty())
    stand_up(lane, permits);
}

/// @param more The repo enters its stage; otherwise it leaves it.
void fetch_queue::count(const fetch_entry& x, bool more) {
  const auto step = more ? size_t{1} : size_t(-1);
  auto& lane = *x.lane;
  auto& all = of(lane.kind);
  switch (x.at) {
    case fetch_stage::delayed:
      break;
    case fetch_stage::queued:
      count_queued(lane, more);
      break;
    case fetch_stage::preparing:
      lane.preparing += step;
      all.preparing += step;
      break;
    case fetch_stage::ready:
      lane.ready_count += step;
      all.ready += step;
      ready_count_ += step;
      break;
    case fetch_stage::running:
      lane.running += step;
      all.running += step;
      running_ += step;
      break;
  }
}

void fetch_queue::count_queued(fetch_lane& lane, bool more) {
  const auto share = fair_share(options_.queue_max);
  if (more) {
    if (lane.queued_count++ == 0)
      ++waiting_lanes_;
    if (lane.queued_count == share + 1)
      crowded_.push_back(&lane);
  } else {
    if (lane.queued_count-- == share + 1)
      std::erase(crowded_, &lane);
    if (lane.queued_count == 0)
      --waiting_lanes_;
  }
}

void fetch_queue::set_host(fetch_entry& x,
                           std::shared_ptr<const identity_answer> identity,
                           steady_time now) {
  move(x, identity->fact->pds, now);
  x.again.reset(); // The fetch that begins satisfies all wishes so far.
  const auto& lane = *x.lane;
  const auto full = !has_place(lane.kind)
                    || lane.ready_count >= fair_share(options_.preparing_max);
  if (full || lane.rest_until > now) {
    place(x, now, now); // It is looked up again when its turn comes.
    return;
  }
  x.identity = std::move(identity);
  leave(x);
  enter(x, fetch_stage::ready);
}

fetch_entry* fetch_queue::next_to_prepare() {
  if (places_taken(true) >= options_.preparing_max
      && places_taken(false) >= options_.preparing_max)
    return nullptr;
  const auto others_first = others_waited_ + 1 >= limits::refetch_turn;
  for (size_t i = 0; i < fetch_lane::priorities; ++i) {
    const auto priority
      = others_first ? (i + 1) % fetch_lane::priorities : i;
    auto* lane = next_lane(priority);
    if (lane == nullptr)
      continue;
    auto& x = lane->queued[priority].front();
    pass_turn(*lane, priority);
    leave(x);
    enter(x, fetch_stage::preparing);
    ++picks_;
    others_waited_ = priority == 0 ? others_waited_ + 1 : 0;
    return &x;
  }
  return nullptr;
}

} // namespace weir::actors
