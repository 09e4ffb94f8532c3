#include "actors/consumer/delivery_lanes.hpp"

#include <algorithm>

namespace weir::actors {

// -- which lanes there are ----------------------------------------------------

delivery_lane* delivery_lanes::find(const atproto::did& repo,
                                    bool facts) const {
  const auto& in = facts ? facts_ : records_;
  const auto i = in.find(repo);
  return i != in.end() ? i->second.get() : nullptr;
}

delivery_lane& delivery_lanes::make(const atproto::did& repo, bool facts) {
  auto& slot = (facts ? facts_ : records_)[repo];
  if (!slot)
    slot = std::make_unique<delivery_lane>(repo, facts);
  return *slot;
}

void delivery_lanes::touch(delivery_lane& x, steady_time now) {
  if (!x.ready && !is_watched(x) && x.next_to_send() != nullptr) {
    x.ready = true;
    ready_.push_back(&x);
  }
  if (const auto first = x.first_waiting(); first != x.first_due) {
    waiting_.erase({x.first_due, &x});
    x.first_due = first;
    if (first != 0)
      waiting_.emplace(first, &x);
  }
  plan(x, now);
  remembered_ -= x.remembered;
  const auto counts = x.behind() || x.looks() || x.held;
  x.remembered = counts ? 1 + x.outstanding.size() : 0;
  remembered_ += x.remembered;
  if (x.idle())
    drop(x, now);
}

/// Plans the next read for a DID that is behind, now or later.
void delivery_lanes::plan(delivery_lane& x, steady_time now) {
  if (!(x.behind() || x.looks()) || x.held || x.asked || x.due
      || x.queue.size() > options_.did_events_max / 2
      || (x.attempts > 0 && !x.queue.empty()))
    return;
  if (x.retry_at <= now) {
    wake(x);
    x.due = true;
    due_.push_back(&x);
  } else if (x.sleeps_until != x.retry_at) {
    const auto at = x.retry_at;
    wake(x);
    x.retry_at = at;
    x.sleeps_until = at;
    sleeping_.insert({at, &x});
  }
}

/// When the last fact says that the account is active again, its records
/// follow.
void delivery_lanes::drop(delivery_lane& x, steady_time now) {
  wake(x);
  remembered_ -= x.remembered;
  waiting_.erase({x.first_due, &x});
  if (blocking_ == &x)
    blocking_ = nullptr;
  if (!x.facts) {
    records_.erase(records_.find(x.repo));
    return;
  }
  const auto active = x.says_active;
  auto* records = find(x.repo, false);
  facts_.erase(facts_.find(x.repo));
  if (active && records != nullptr && records->held)
    release(*records, now);
}

std::pair<storage::op_id, const delivery_lane*>
delivery_lanes::first_waiting() const {
  if (waiting_.empty())
    return {0, nullptr};
  return *waiting_.begin();
}

// -- events -------------------------------------------------------------------

void delivery_lanes::push(delivery_lane& x, const held_entry_ptr& held,
                          size_t index) {
  const auto& entry = *held->get();
  delivery_lane::event event;
  event.id = entry.first + index;
  event.held = held;
  event.index = static_cast<uint32_t>(index);
  event.job = entry.job;
  event.barrier
    = entry.live
      || kind_of(entry.ops[index], options_.filter) == delivery_kind::fact;
  const auto [i, fresh] = index_.insert_or_assign(event.id, &x);
  event.known = !fresh;
  x.queue.push_back(std::move(event));
  window_.add_event();
}

void delivery_lanes::settle(delivery_lane& x, delivery_lane::event& event) {
  if (event.session != nullptr) {
    event.session->flights.erase(event.flight);
    event.session = nullptr;
  }
  index_.erase(event.id);
  ledger_.close(event.id);
  event.at = delivery_lane::stage::settled;
  event.held.reset();
  window_.remove_event();
  if (&event == &x.queue.front()) {
    x.attempts = 0;
    x.pop_settled();
  }
}

void delivery_lanes::settle_parked(delivery_lane& x, op_id id) {
  index_.erase(id);
  std::erase(x.outstanding, id);
  ledger_.close(id);
  if (id <= x.read_from)
    x.attempts = 0;
  wake(x);
}

void delivery_lanes::forget_outstanding(delivery_lane& x) {
  std::erase_if(x.outstanding, [&](op_id id) {
    if (id >= x.read_from)
      return false;
    if (holder(id) == &x && x.find(id) == nullptr)
      index_.erase(id);
    return true;
  });
}

// -- parking ------------------------------------------------------------------

void delivery_lanes::park(delivery_lane& x) {
  if (x.queue.empty())
    return;
  const auto first = x.queue.front().id; // The first one is never settled.
  auto last = x.through;
  for (auto& event : x.queue) {
    if (event.at == delivery_lane::stage::settled)
      continue;
    if (event.session != nullptr)
      event.session->flights.erase(event.flight);
    if (event.known)
      x.outstanding.push_back(event.id);
    else
      index_.erase(event.id);
    last = std::max(last, event.id);
    window_.remove_event();
  }
  x.queue.clear();
  x.next = 0;
  x.read_from = first;
  x.through = last;
}

void delivery_lanes::hold(delivery_lane& x) {
  park(x);
  wake(x);
  x.held = x.looked = true;
  ++held_;
}

void delivery_lanes::release(delivery_lane& x, steady_time now) {
  x.held = false;
  x.seen_active = false;
  --held_;
  touch(x, now);
}

// -- waiting for a moment -----------------------------------------------------

void delivery_lanes::wake(delivery_lane& x) {
  if (x.sleeps_until)
    sleeping_.erase({*x.sleeps_until, &x});
  x.sleeps_until.reset();
  x.retry_at = {};
}

void delivery_lanes::wake_due(steady_time now, bool all) {
  while (!sleeping_.empty() && (all || sleeping_.begin()->until <= now)) {
    auto& lane = *sleeping_.begin()->lane;
    wake(lane);
    touch(lane, now);
  }
}

// -- turns --------------------------------------------------------------------

delivery_lane& delivery_lanes::take_ready() {
  auto& out = *ready_.front();
  ready_.pop_front();
  out.ready = false;
  return out;
}

void delivery_lanes::end_due(steady_time now) {
  auto& lane = *due_.front();
  due_.pop_front();
  lane.due = false;
  touch(lane, now);
}

bool delivery_lanes::hold_up_log(const delivery_lane& x, steady_time now) {
  if (blocking_ != &x) {
    blocking_ = &x;
    blocking_since_ = now;
  }
  return now >= blocking_since_ + options_.patience;
}

// -- dead letters to be delivered again ---------------------------------------

void delivery_lanes::unwatch(steady_time now) {
  for (const auto& repo : std::exchange(watched_, {}))
    for (const auto facts : {true, false})
      if (auto* x = find(repo, facts))
        touch(*x, now);
}

std::optional<steady_time> delivery_lanes::due(steady_time now) const {
  std::optional<steady_time> out;
  if (!sleeping_.empty())
    out = sleeping_.begin()->until;
  const auto patient_until = blocking_since_ + options_.patience;
  if (blocking_ != nullptr && patient_until > now)
    out = out ? std::min(*out, patient_until) : patient_until;
  return out;
}

} // namespace weir::actors
