#include "actors/consumer/delivery_machine.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// How often held DIDs are looked at without a reason.
constexpr std::chrono::seconds sweep_interval{30};

constexpr const char* account_inactive
  = "the account is not active, and more of them wait than can be remembered";

} // namespace

delivery_lane* delivery_machine::find(lane_map& in, const atproto::did& repo) {
  const auto i = in.find(repo);
  return i != in.end() ? i->second.get() : nullptr;
}

delivery_lane& delivery_machine::make(const atproto::did& repo, bool facts) {
  auto& slot = (facts ? facts_ : records_)[repo];
  if (!slot)
    slot = std::make_unique<delivery_lane>(repo, facts);
  return *slot;
}

/// To be called last after every change of a lane, which may be gone then.
void delivery_machine::touch(delivery_lane& x, steady_time now) {
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

/// Has the next part of the log read for a DID that is behind, now or later.
void delivery_machine::plan(delivery_lane& x, steady_time now) {
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

/// Ends the wait before the next attempt.
void delivery_machine::wake(delivery_lane& x) {
  if (x.sleeps_until)
    sleeping_.erase({*x.sleeps_until, &x});
  x.sleeps_until.reset();
  x.retry_at = {};
}

void delivery_machine::drop(delivery_lane& x, steady_time now) {
  wake(x);
  remembered_ -= x.remembered;
  waiting_.erase({x.first_due, &x});
  if (blocked_ == &x)
    blocked_ = nullptr;
  if (!x.facts) {
    records_.erase(records_.find(x.repo));
    return;
  }
  const auto active = x.says_active;
  auto* records = find(records_, x.repo);
  facts_.erase(facts_.find(x.repo));
  if (active && records != nullptr && records->held)
    release(*records, now);
}

/// Done with an event, for whatever reason.
void delivery_machine::settle(delivery_lane& x, delivery_lane::event& event) {
  if (event.session != nullptr) {
    event.session->flights.erase(event.flight);
    event.session = nullptr;
  }
  index_.erase(event.id);
  close(event.id);
  event.at = delivery_lane::stage::settled;
  event.held.reset();
  --events_;
  if (&event == &x.queue.front()) {
    x.attempts = 0;
    x.pop_settled();
  }
}

// -- parking ------------------------------------------------------------------

bool delivery_machine::may_park(const delivery_lane& x) const noexcept {
  return x.remembered > 0
         || remembered_ + 1 + x.queue.size() <= options_.parked_max;
}

/// Takes a DID's events out of the window. Acks of those that were sent still
/// count.
void delivery_machine::park(delivery_lane& x) {
  ++counters_.parked;
  if (x.queue.empty())
    return;
  const auto first = x.queue.front().id; // Never settled.
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
    --events_;
  }
  x.queue.clear();
  x.next = 0;
  x.read_from = first;
  x.through = last;
}

/// The account is not active: its records wait, its facts get through.
void delivery_machine::hold(delivery_lane& x, steady_time now) {
  ++counters_.withheld;
  if (!may_park(x)) {
    give_up(x);
    return;
  }
  touch(set_aside(x), now);
}

/// The queue is read again; facts first, which are returned.
delivery_lane& delivery_machine::set_aside(delivery_lane& x) {
  park(x);
  wake(x);
  x.held = x.looked = true;
  ++held_lanes_;
  auto& facts = make(x.repo, true);
  facts.read_from = x.read_from;
  facts.through = x.through;
  return facts;
}

/// An earlier life went past this record, perhaps because its account was away,
/// and told so. Without memory to set the DID aside nobody looks; nor while one
/// of its records is in flight, which would be sent again: a late ack may show
/// only then how far that life came.
/// @returns whether the record has to wait for that.
bool delivery_machine::look_back(delivery_lane& x, op_id id, steady_time now) {
  if (x.looked || id > told_through_ || x.is_in_flight() || !may_park(x))
    return false;
  auto& facts = set_aside(x);
  facts.look_from = id;
  facts.look_through = durable_;
  touch(facts, now);
  return true;
}

/// What an earlier life told holds: facts first. Else all in the order of the
/// log.
void delivery_machine::end_look(delivery_lane& x, steady_time now) {
  if (x.told_away)
    return;
  auto* records = find(records_, x.repo);
  records->through = std::max(records->through, x.through);
  x.read_from = 1;
  x.through = 0;
  release(*records, now);
}

/// No memory is left to wait for the account: its records are dead letters.
void delivery_machine::give_up(delivery_lane& x) {
  std::vector<dead_letter> records;
  for (const auto& event : x.queue)
    if (event.at != delivery_lane::stage::settled
        && kind_of(event.op()) == kind::record)
      records.push_back(letter_of(x.repo, event.id, event.op(), 0,
                                  account_inactive));
  for (auto& each : records) {
    const auto id = each.id;
    bury(std::move(each));
    settle(x, *x.find(id));
  }
}

void delivery_machine::release(delivery_lane& x, steady_time now) {
  x.held = false;
  x.seen_active = false;
  --held_lanes_;
  touch(x, now);
}

/// Finds held DIDs whose account was erased, or came back without a fact that
/// is still to be sent.
void delivery_machine::sweep(steady_time now) {
  sweep_at_ = now + sweep_interval;
  const auto at_end
    = page_.empty() && !page_asked_ && acked_.next_missing(next_) > durable_;
  for (auto& [repo, lane] : records_) {
    if (!lane->held || facts_.contains(repo))
      continue;
    const auto standing = gate_.standing(repo);
    // The gate may know more than the log has told us: look twice.
    const auto back = standing.active && at_end;
    if (standing.erased_through >= lane->through
        || (std::exchange(lane->seen_active, back) && back))
      release(*lane, now);
  }
}

// -- events that are not acked ------------------------------------------------

/// When the oldest event in flight has waited too long. A client that still
/// acks what was sent before it is slow, not silent.
steady_time
delivery_machine::deadline(const delivery_session& x) const noexcept {
  const auto& first = x.flights.front();
  const auto since
    = first.number < x.acked ? first.at : std::max(first.at, x.last_ack);
  return since + options_.retry_timeout;
}

void delivery_machine::expire(const delivery_flight& x, steady_time now) {
  ++counters_.expired;
  auto& lane = *x.lane;
  auto& event = *lane.find(x.id);
  const auto first = &event == &lane.queue.front();
  if (first)
    ++lane.attempts;
  if (first && options_.attempts_max != 0
      && lane.attempts >= options_.attempts_max) {
    bury(letter_of(lane.repo, event.id, event.op(), lane.attempts,
                   "not acknowledged"));
    settle(lane, event);
  } else if (may_park(lane)) {
    const auto attempts = lane.attempts;
    park(lane);
    lane.retry_at = now + delay_after(first ? attempts : 0);
  } else {
    lane.take_back(event);
  }
  touch(lane, now);
}

/// The first repetition follows at once, as in Tap.
std::chrono::microseconds
delivery_machine::delay_after(uint32_t attempts) const noexcept {
  if (attempts <= 1)
    return std::chrono::microseconds{0};
  auto out = options_.retry_timeout;
  for (uint32_t i = 2; i < attempts && out < options_.retry_delay_max; ++i)
    out *= 2;
  return std::min(out, options_.retry_delay_max);
}

void delivery_machine::bury(dead_letter x) {
  ++counters_.dead;
  ++dead_letters_;
  close(x.id);
  letters_.push_back(std::move(x));
  urgent_ = true;
}

} // namespace weir::actors
