#include "actors/consumer/delivery_machine.hpp"

#include "wire/tap.hpp"

#include <algorithm>

namespace weir::actors {

using namespace std::chrono_literals;

namespace {

/// A socket that took no more is tried again after this time.
constexpr auto blocked_time = 100ms;

} // namespace

// -- sessions -----------------------------------------------------------------

delivery_effects delivery_machine::on_session_up(session_id id,
                                                 steady_time now) {
  if (sessions_.open(id, now)) {
    lanes_.wake_due(now, true);
    holds_.sweep_soon(now);
  }
  return pump(now);
}

delivery_effects delivery_machine::on_session_down(session_id id,
                                                   steady_time now) {
  auto* session = sessions_.find(id);
  if (session == nullptr)
    return {};
  while (!session->flights.empty()) {
    auto& lane = *session->flights.front().lane;
    lane.take_back(*lane.find(session->flights.front().id));
    lanes_.touch(lane, now);
  }
  sessions_.close(id);
  lanes_.end_hold_up();
  return pump(now);
}

delivery_effects delivery_machine::on_sent(std::span<const sent_report> reports,
                                           steady_time now) {
  for (const auto& x : reports)
    if (auto* session = sessions_.find(x.to))
      take_report(*session, x.taken, now);
  return pump(now);
}

void delivery_machine::take_report(delivery_session& x, size_t taken,
                                   steady_time now) {
  auto left = std::min(std::exchange(x.unreported, 0), x.flights.size());
  if (taken < left)
    x.blocked_until = now + blocked_time;
  auto i = std::prev(x.flights.end(), static_cast<ptrdiff_t>(left));
  for (; left > 0; --left) {
    auto& lane = *i->lane;
    auto& event = *lane.find(i->id);
    ++i;
    if (taken == 0) {
      lane.take_back(event);
    } else {
      --taken;
      if (!options_.fire_and_forget)
        continue;
      lanes_.settle(lane, event);
      ++ledger_.counters().acked;
      ledger_.write_within(limits::acks_write_wait);
    }
    lanes_.touch(lane, now);
  }
}

// -- the clock, the end -------------------------------------------------------

delivery_effects delivery_machine::on_timer(steady_time now) {
  sessions_.unblock(now);
  while (const auto* flight = sessions_.expired(now))
    expire(*flight, now);
  lanes_.wake_due(now);
  holds_.sweep(feed_.is_at_end(), now);
  return pump(now);
}

delivery_effects delivery_machine::on_stop(steady_time now) {
  effects out;
  ledger_.note_durable();
  ledger_.write_within(0us);
  ledger_.save(now, out);
  return out;
}

// -- acks ---------------------------------------------------------------------

delivery_effects delivery_machine::on_acks(session_id from,
                                           std::span<const op_id> ids,
                                           steady_time now) {
  auto* session = sessions_.find(from);
  for (const auto id : ids)
    if (ack(session, id, now)) {
      ++ledger_.counters().acked;
      ledger_.write_within(limits::acks_write_wait);
      if (session != nullptr)
        session->last_ack = now;
    }
  return pump(now);
}

bool delivery_machine::ack(delivery_session* from, op_id id, steady_time now) {
  auto* lane = lanes_.holder(id);
  if (lane == nullptr)
    return ack_unseen(id);
  if (auto* event = lane->find(id)) {
    if (!event->known && id > believed_through_)
      return false;
    if (from != nullptr && event->session == from)
      from->acked = std::max(from->acked, event->flight->number);
    lanes_.settle(*lane, *event);
  } else {
    lanes_.settle_parked(*lane, id);
  }
  lanes_.touch(*lane, now);
  return true;
}

/// No lane has the id: it was settled, sent by an earlier run, or never sent.
bool delivery_machine::ack_unseen(op_id id) {
  if (id == 0 || id > believed_through_ || ledger_.contains(id))
    return false;
  holds_.note_acked(id);
  return ledger_.close(id);
}

/// The event has waited too long for its ack. If it is the first one of its
/// DID, this counts as a failed attempt; the DID leaves the window.
void delivery_machine::expire(const delivery_flight& x, steady_time now) {
  auto& lane = *x.lane;
  auto& event = *lane.find(x.id);
  const auto first = &event == &lane.queue.front();
  if (first)
    ++lane.attempts;
  if (first && options_.attempts_max != 0
      && lane.attempts >= options_.attempts_max) {
    ledger_.bury(letter_of(lane.repo, event.id, event.op(), lane.attempts,
                           "not acknowledged"));
    lanes_.settle(lane, event);
  } else if (lanes_.may_park(lane)) {
    lanes_.park(lane);
    lane.retry_at = now + delay_after(first ? lane.attempts : 0);
  } else {
    lane.take_back(event);
  }
  lanes_.touch(lane, now);
}

/// The first repetition follows at once, as in Tap.
std::chrono::microseconds
delivery_machine::delay_after(uint32_t attempts) const noexcept {
  if (attempts <= 1)
    return std::chrono::microseconds{0};
  constexpr std::chrono::microseconds most = limits::consumer_retry_delay_max;
  auto out = options_.retry_timeout;
  for (uint32_t i = 2; i < attempts && out < most; ++i)
    out *= 2;
  return std::min(out, most);
}

// -- sending ------------------------------------------------------------------

delivery_effects delivery_machine::pump(steady_time now) {
  effects out;
  do {
    feed_.ask_did_pages(now, out);
    feed_.fill(now);
  } while (send_ready(now, out));
  feed_.ask_page(out);
  ledger_.save(now, out);
  for (const auto& due :
       {sessions_.due(), lanes_.due(now), ledger_.due(), holds_.due(now)})
    if (due && (!out.timer || *due < *out.timer))
      out.timer = due;
  return out;
}

/// @returns true when room became free.
bool delivery_machine::send_ready(steady_time now, effects& out) {
  bool freed = false;
  while (lanes_.has_ready() && sessions_.pick() != nullptr) {
    auto& lane = lanes_.take_ready();
    freed |= send_lane(lane, now, out);
    lanes_.touch(lane, now);
  }
  return freed;
}

bool delivery_machine::send_lane(delivery_lane& x, steady_time now,
                                 effects& out) {
  if (lanes_.is_watched(x))
    return false;
  const auto standing = accounts_.of(x.repo);
  bool freed = false;
  while (auto* event = x.next_to_send()) {
    if (is_void(x, *event, standing)) {
      lanes_.settle(x, *event);
      freed = true;
      continue;
    }
    const auto fact
      = kind_of(event->op(), options_.filter) == delivery_kind::fact;
    if (!fact && !standing.active) {
      holds_.hold(x, now);
      return true;
    }
    if (!fact && holds_.look_back(x, event->id, feed_.durable(), now))
      return true;
    auto* session = sessions_.pick();
    if (session == nullptr)
      break;
    send(*session, x, *event, now, out);
  }
  return freed;
}

/// Whether the event was erased, or is a fact that cannot be sent. Also notes
/// the content of a fact.
bool delivery_machine::is_void(delivery_lane& x,
                               const delivery_lane::event& event,
                               const account_board::standing& standing) const {
  const auto& op = event.op();
  if (kind_of(op, options_.filter) != delivery_kind::fact)
    return event.id <= standing.erased_through || event.held->get()->erased;
  if (event.id <= standing.erased_through)
    return true;
  const auto says = wire::parse_account_fact(op.body.view());
  x.note_fact(event.id, says && says->active);
  return !says;
}

void delivery_machine::send(delivery_session& to, delivery_lane& lane,
                            delivery_lane::event& x, steady_time now,
                            effects& out) {
  out.sends.push_back({to.id, x.id, x.held->get(), x.index, x.known});
  auto& counters = ledger_.counters();
  ++(x.known ? counters.resent : counters.sent);
  ++to.unreported;
  to.flights.push_back({x.id, &lane, ++to.sent, now});
  x.flight = std::prev(to.flights.end());
  x.session = &to;
  x.at = delivery_lane::stage::sent;
  x.known = true;
}

// -- dead letters that are wanted ---------------------------------------------

delivery_effects
delivery_machine::on_letters(std::span<const letter_wish> wishes,
                             steady_time now, letters_report& result) {
  using fate = letter_wish::fate;
  for (const auto& x : wishes) {
    // A dead letter is settled; an open event is on its way already.
    if (!ledger_.contains(x.id)) {
      result.unknown.push_back(x.id);
    } else if (x.what == fate::drop) {
      ledger_.forget(x.id);
      result.done.push_back(x.id);
    } else if (x.what == fate::outdated || x.entry == nullptr || is_over(x)) {
      ledger_.forget(x.id);
      result.outdated.push_back(x.id);
    } else if (reopen(x, now)) {
      ledger_.forget(x.id);
      result.done.push_back(x.id);
    } else {
      result.left.push_back(x.id);
    }
  }
  lanes_.unwatch(now);
  return pump(now);
}

/// Whether the event may not be sent any more.
bool delivery_machine::is_over(const letter_wish& x) const {
  const auto what
    = kind_of(x.entry->ops[x.id - x.entry->first], options_.filter);
  return what == delivery_kind::implicit
         || x.id <= accounts_.of(x.entry->repo).erased_through
         || (what == delivery_kind::record && x.entry->erased);
}

/// Opens the event again; it is read again for its DID alone. An event that
/// this life has not reached yet is read with the log.
/// @returns false when there is no room to remember it.
bool delivery_machine::reopen(const letter_wish& x, steady_time now) {
  if (ledger_.ranges() >= options_.ranges_max / 2)
    return false;
  if (feed_.is_ahead(x.id)) {
    ledger_.reopen(x.id);
    return true;
  }
  const auto& repo = x.entry->repo;
  const auto what
    = kind_of(x.entry->ops[x.id - x.entry->first], options_.filter);
  const auto* records = lanes_.find(repo, false);
  auto& lane = lanes_.make(repo, what == delivery_kind::fact
                                   && records != nullptr && records->held);
  if (!lanes_.may_park(lane)) {
    lanes_.touch(lane, now);
    return false;
  }
  ledger_.reopen(x.id);
  const auto first = lane.first_waiting() == 0 || x.id < lane.first_waiting();
  if (!lane.queue.empty())
    lanes_.park(lane);
  lane.reopen(x.id);
  if (first) {
    lane.attempts = 0;
    lanes_.wake(lane);
  }
  lanes_.touch(lane, now);
  return true;
}

} // namespace weir::actors
