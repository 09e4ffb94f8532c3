#include "actors/supervisor/fetch_lanes.hpp"

#include "actors/support/site.hpp"

namespace weir::actors {

namespace {

using storage::repo_status;

/// Repos that were never fetched come before those out of sync, and those
/// before failed ones (actors.md, Who is fetched next).
size_t priority_of(repo_status x) noexcept {
  if (x == repo_status::pending || x == repo_status::syncing)
    return 0;
  return x == repo_status::error ? 2 : 1;
}

} // namespace

// -- who is in a lane ---------------------------------------------------------

void fetch_lanes::join(fetch_entry& x, const std::string& name, bool is_host) {
  const auto known = lanes_.contains(name);
  auto& lane = lane_of_name(name);
  if (!known && !is_host)
    lane.kind
      = document_is_foreign(*x.repo) ? lane_kind::web : lane_kind::directory;
  if (lane.memory)
    remembered_.erase(*std::exchange(lane.memory, std::nullopt));
  ++lane.entries;
  x.lane = &lane;
}

void fetch_lanes::enter(fetch_entry& x, fetch_stage to) {
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

void fetch_lanes::leave(fetch_entry& x) {
  auto& lane = *x.lane;
  if (x.is_linked())
    x.unlink();
  count(x, false);
  const auto priority = priority_of(x.status);
  if (x.at == fetch_stage::queued && lane.queued[priority].empty())
    stand_up(lane, priority);
  else if (x.at == fetch_stage::ready && lane.ready.empty())
    stand_up(lane, permits);
}

/// @param more The repo enters its stage; otherwise it leaves it.
void fetch_lanes::count(const fetch_entry& x, bool more) {
  if (x.at == fetch_stage::queued)
    return count_queued(*x.lane, more);
  const auto step = more ? size_t{1} : size_t(-1);
  for (auto* each : std::array<fetch_counts*, 3>{x.lane, &of(x.lane->kind),
                                                 &all_})
    each->of(x.at) += step;
}

void fetch_lanes::count_queued(fetch_lane& lane, bool more) {
  const auto share = fair_share(options_.queue_max);
  if (more) {
    if (lane.queued_count++ == 0)
      ++waiting_lanes_;
    if (lane.queued_count == share + 1)
      excessive_.push_back(&lane);
  } else {
    if (lane.queued_count-- == share + 1)
      std::erase(excessive_, &lane);
    if (lane.queued_count == 0)
      --waiting_lanes_;
  }
}

fetch_entry* fetch_lanes::excess() {
  if (excessive_.empty())
    return nullptr;
  auto& from = excessive_.front()->queued;
  const auto list = std::find_if(from.rbegin(), from.rend(),
                                 [](auto& x) { return !x.empty(); });
  return &list->back();
}

// -- turns --------------------------------------------------------------------

fetch_entry* fetch_lanes::next_to_prepare() {
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

// -- places of repos whose hosts are looked up, or that wait for permits ------

/// Takes lanes of each kind in turn. Repos that wait for look-ups have other
/// places than repos of known hosts.
fetch_lane* fetch_lanes::next_lane(size_t priority) {
  using enum lane_kind;
  std::array<lane_kind, lane_kinds> order{answering, untried, silent,
                                          directory, web};
  std::rotate(order.begin(), order.begin() + picks_ % host_kinds,
              order.begin() + host_kinds);
  if (picks_ % 2 != 0)
    std::swap(order[host_kinds], order[host_kinds + 1]);
  for (const auto kind : order) {
    if (!has_place(kind))
      continue;
    auto& turns = turns_[static_cast<size_t>(kind)][priority];
    const auto lane = std::ranges::find_if(
      turns, [&](const auto* x) { return may_prepare(*x); });
    if (lane != turns.end())
      return *lane;
  }
  return nullptr;
}

/// The places of repos whose hosts are known, or of the others.
size_t fetch_lanes::places_taken(bool of_hosts) const noexcept {
  size_t out = 0;
  for (size_t i = 0; i < lane_kinds; ++i)
    if ((i < host_kinds) == of_hosts)
      out += tallies_[i].preparing + tallies_[i].ready_count;
  return out;
}

/// Domains of did:web names leave a share to others, because anybody can have
/// any number of them. So do hosts that may never answer. The part that silent
/// hosts leave is always free, since they keep a permit for long.
bool fetch_lanes::has_place(lane_kind kind) const {
  const auto all = options_.preparing_max;
  const auto taken = [&](lane_kind x) {
    return of(x).preparing + of(x).ready_count;
  };
  if (kind == lane_kind::web
      && taken(kind) >= std::max<size_t>(all - fair_share(all), 1))
    return false;
  if (kind == lane_kind::silent
      && taken(kind) >= std::max<size_t>(all / limits::fetch_silent_part, 1))
    return false;
  const auto unproven = taken(lane_kind::untried) + taken(lane_kind::silent);
  const auto waits = [](const fetch_lane::turns& x) { return !x.empty(); };
  if ((kind == lane_kind::untried || kind == lane_kind::silent)
      && std::ranges::any_of(
        turns_[static_cast<size_t>(lane_kind::answering)], waits)
      && unproven >= all - all / limits::fetch_answering_part)
    return false;
  return places_taken(static_cast<size_t>(kind) < host_kinds) < all;
}

/// A host never has all places: the hosts of other repos must be found as well,
/// or it would not be known that they wait. The directory may have all places
/// while no other lane waits for look-ups.
bool fetch_lanes::may_prepare(const fetch_lane& lane) const {
  const auto most = lane.is_host() || waiting_lanes_ > 1
                      ? fair_share(options_.preparing_max)
                      : options_.preparing_max;
  return lane.preparing + lane.ready_count < most;
}

// -- what is known of hosts ---------------------------------------------------

void fetch_lanes::set_kind(fetch_lane& lane, lane_kind kind) {
  if (lane.kind == kind)
    return;
  auto& from = of(lane.kind);
  auto& to = of(kind);
  for (size_t i = 0; i < fetch_lane::priorities; ++i)
    if (lane.seats[i]) {
      auto& seats = turns_[static_cast<size_t>(kind)][i];
      seats.splice(seats.end(), turns_of(lane, i), *lane.seats[i]);
    }
  for (const auto at :
       {fetch_stage::preparing, fetch_stage::ready, fetch_stage::running}) {
    from.of(at) -= lane.of(at);
    to.of(at) += lane.of(at);
  }
  lane.kind = kind;
}

/// Remembers a lane. When there are too many, the oldest is forgotten: that
/// host may be asked once more than it should be, but no new host has to wait.
void fetch_lanes::settle(fetch_lane& lane, steady_time now) {
  if (lane.entries > 0)
    return;
  if (lane.memory)
    remembered_.erase(*std::exchange(lane.memory, std::nullopt));
  if (lane.failures == 0 && lane.crawls == 0 && lane.rest_until <= now
      && lane.modest_until <= now
      && (lane.kind == lane_kind::untried || !lane.is_host())) {
    forget(lane);
    return;
  }
  lane.memory = remembered_.insert(remembered_.end(), &lane);
  if (remembered_.size() > options_.hosts_max) {
    auto& oldest = *remembered_.front();
    remembered_.pop_front();
    forget(oldest);
  }
}

void fetch_lanes::on_timer(steady_time now) {
  for (auto i = remembered_.begin(); i != remembered_.end();) {
    auto& lane = **i++;
    if (lane.rest_until <= now && lane.modest_until <= now
        && std::max(lane.failed_at, lane.answered_at) + limits::host_rest_max
             <= now) {
      remembered_.erase(*lane.memory);
      forget(lane);
    }
  }
}

// -- which repo gets the next permit, and for which host one is given up ------

fetch_lanes::better_hosts fetch_lanes::those_that_wait() const {
  better_hosts out;
  for (const auto* x : permit_turns_)
    if (x->running < options_.per_host) {
      out.answering = out.answering || x->kind == lane_kind::answering;
      out.untried = out.untried || x->kind == lane_kind::untried;
    }
  return out;
}

fetch_lanes::better_hosts fetch_lanes::those_that_wait_or_run() const {
  auto out = those_that_wait();
  out.answering = out.answering || of(lane_kind::answering).running > 0;
  out.untried = out.untried || of(lane_kind::untried).running > 0;
  return out;
}

/// Whether hosts of the lane's kind have all permits of that kind, while others
/// need the rest.
bool fetch_lanes::is_held(const fetch_lane& lane,
                          const better_hosts& others, steady_time now) const {
  if (lane.kind == lane_kind::answering)
    return false;
  const auto own = of(lane.kind).running;
  const auto unproven
    = of(lane_kind::untried).running + of(lane_kind::silent).running;
  const auto kept = std::max<size_t>(
    options_.parallelism / limits::fetch_answering_part, 1);
  const auto all_taken
    = (others.answering && unproven + kept >= options_.parallelism)
      || (lane.kind == lane_kind::silent
          && (others.answering || others.untried)
          && own >= silent_permits());
  const auto turn = lane.kind == lane_kind::silent ? limits::fetch_silent_turn
                                                   : limits::fetch_untried_turn;
  const auto has_turn = own == 0 && now - of(lane.kind).started >= turn;
  return all_taken && !has_turn;
}

/// Hosts below their share come first. More than the share is given only when
/// no host below it waits, and last to hosts that had to give a permit back.
fetch_entry* fetch_lanes::next_to_start(steady_time now) {
  if (all_.running >= options_.parallelism)
    return nullptr;
  enum : int { below, fine, modest, full };
  const auto others = those_that_wait();
  const auto rank = [&](const fetch_lane* x) {
    if (x->running >= options_.per_host || is_held(*x, others, now))
      return full;
    if (x->running < permit_share())
      return below;
    return x->modest_until > now ? modest : fine;
  };
  const auto lane = std::ranges::min_element(permit_turns_, {}, rank);
  if (lane == permit_turns_.end() || rank(*lane) == full)
    return nullptr;
  if (all_.running + 1 == options_.parallelism && reserved_until_ > now) {
    if (rank(*lane) == modest)
      return nullptr;
    reserve(now);
  }
  auto& x = (*lane)->ready.front();
  pass_turn(**lane, permits);
  leave(x);
  enter(x, fetch_stage::running);
  x.again.reset(); // This fetch satisfies all wishes so far.
  of(x.lane->kind).started = now;
  return &x;
}

/// Hosts that must wait count as well when none of their kind has a permit,
/// since a crawling download helps no repo.
bool fetch_lanes::starving(steady_time now) const {
  if (all_.running < options_.parallelism)
    return false;
  const auto others = those_that_wait_or_run();
  return std::ranges::any_of(permit_turns_, [&](const auto* x) {
    return x->running < permit_share()
           && (of(x->kind).running == 0 || !is_held(*x, others, now));
  });
}

size_t fetch_lanes::without_permit() const {
  if (all_.running < options_.parallelism)
    return 0;
  return static_cast<size_t>(
    std::ranges::count_if(permit_turns_, [](const auto* x) {
      return x->running == 0 && x->kind != lane_kind::silent;
    }));
}

const fetch_lane* fetch_lanes::neediest(steady_time now) const {
  if (all_.running < options_.parallelism)
    return nullptr;
  const auto others = those_that_wait_or_run();
  const fetch_lane* out = nullptr;
  for (const auto* x : permit_turns_) {
    const auto entitled
      = x->running < permit_share()
        || (x->running < options_.per_host && x->modest_until <= now);
    if (entitled && (out == nullptr || x->running < out->running)
        && !is_held(*x, others, now))
      out = x;
  }
  return out;
}

} // namespace weir::actors
