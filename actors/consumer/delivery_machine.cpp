#include "actors/consumer/delivery_machine.hpp"

#include "wire/tap.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

/// A socket that took no more is tried again after this.
constexpr std::chrono::milliseconds blocked_time{100};

} // namespace

delivery_machine::delivery_machine(delivery_options options,
                                   const delivery_state& state,
                                   const account_gate& gate)
  : options_(std::move(options)), gate_(gate),
    acked_(state.position, state.acked), log_events_(state.log_events),
    settled_(state.settled), dead_letters_(state.dead_letters),
    next_(acked_.next_missing(1)),
    durable_(state.durable),
    believed_through_(state.ran_before ? state.durable : 0),
    told_through_(acked_.last()) {
  // nop
}

// -- events -------------------------------------------------------------------

delivery_effects delivery_machine::on_session_up(session_id id,
                                                 steady_time now) {
  effects out;
  const auto first = sessions_.empty();
  auto& x = sessions_[id];
  x.id = id;
  x.last_ack = now;
  if (first) {
    // A client that comes back may have been mended.
    while (!sleeping_.empty()) {
      auto& lane = *sleeping_.begin()->lane;
      wake(lane);
      touch(lane, now);
    }
    sweep_at_ = now;
  }
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_session_down(session_id id,
                                                   steady_time now) {
  effects out;
  const auto i = sessions_.find(id);
  if (i == sessions_.end())
    return out;
  auto& flights = i->second.flights;
  while (!flights.empty()) {
    auto& lane = *flights.front().lane;
    lane.take_back(*lane.find(flights.front().id));
    touch(lane, now);
  }
  sessions_.erase(i);
  blocked_ = nullptr;
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_log(op_id durable, uint64_t log_events,
                                          steady_time now) {
  effects out;
  log_events_ = std::max(log_events_, log_events);
  durable_ = std::max(durable_, durable);
  at_end_ = false;
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_sent(std::span<const sent_report> reports,
                                           steady_time now) {
  effects out;
  for (const auto& x : reports)
    if (auto* session = find_session(x.to))
      take_report(*session, x.taken, now);
  pump(now, out);
  return out;
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
      settle(lane, event);
      ++counters_.acked;
      urgent_ = true;
    }
    touch(lane, now);
  }
}

delivery_effects delivery_machine::on_drained(session_id id, steady_time now) {
  effects out;
  if (auto* session = find_session(id))
    session->blocked_until.reset();
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_acks(session_id from,
                                           std::span<const op_id> ids,
                                           steady_time now) {
  effects out;
  auto* session = find_session(from);
  for (const auto id : ids)
    if (ack(session, id, now)) {
      ++counters_.acked;
      urgent_ = true;
      if (session != nullptr)
        session->last_ack = now;
    }
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_durable_rows(steady_time now) {
  effects out;
  rows_in_flight_ = false;
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_timer(steady_time now) {
  effects out;
  for (auto& [id, session] : sessions_) {
    if (session.blocked_until && *session.blocked_until <= now)
      session.blocked_until.reset();
    while (!session.flights.empty() && deadline(session) <= now)
      expire(session.flights.front(), now);
  }
  while (!sleeping_.empty() && sleeping_.begin()->until <= now) {
    auto& lane = *sleeping_.begin()->lane;
    wake(lane);
    touch(lane, now);
  }
  if (held_lanes_ > 0 && sweep_at_ <= now)
    sweep(now);
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_stop(steady_time now) {
  effects out;
  rows_in_flight_ = false;
  urgent_ = true;
  save(now, out);
  return out;
}

// -- acks ---------------------------------------------------------------------

bool delivery_machine::ack(delivery_session* from, op_id id, steady_time now) {
  const auto i = index_.find(id);
  if (i == index_.end())
    return ack_unseen(id);
  auto& lane = *i->second;
  if (auto* event = lane.find(id)) {
    if (!event->known && id > believed_through_) {
      ++counters_.unknown_acks;
      return false;
    }
    if (from != nullptr && event->session == from)
      from->acked = std::max(from->acked, event->flight->number);
    settle(lane, *event);
  } else {
    index_.erase(i);
    std::erase(lane.outstanding, id);
    close(id);
    if (id <= lane.read_from)
      lane.attempts = 0;
    wake(lane);
  }
  touch(lane, now);
  return true;
}

/// No lane has it: settled before, sent by an earlier run, or never sent.
bool delivery_machine::ack_unseen(op_id id) {
  if (id != 0 && acked_.contains(id)) {
    ++counters_.repeated_acks;
    return false;
  }
  if (id == 0 || id > believed_through_) {
    ++counters_.unknown_acks;
    return false;
  }
  told_through_ = std::max(told_through_, id);
  return close(id);
}

/// One event less is open.
bool delivery_machine::close(op_id id) {
  if (!acked_.add(id))
    return false;
  ++settled_;
  return true;
}

/// Everything up to the end of this entry was read, and what is open of it are
/// events. Where nothing behind it was acked yet the number follows anew, whatever
/// an application may have acked that was none.
void delivery_machine::recount(const storage::log_entry& entry) {
  if (acked_.last() >= next_ || next_ < again_until_)
    return;
  const auto events = entry.events_before
                      + static_cast<uint64_t>(std::ranges::count_if(
                        entry.ops, [](const auto& op) {
                          return storage::is_event_scope(op.scope);
                        }));
  const auto open = next_ - 1 - acked_.count();
  settled_ = events > open ? events - open : 0;
}

oldest_event delivery_machine::oldest_due() const noexcept {
  if (!waiting_.empty()) {
    const auto& [id, lane] = *waiting_.begin();
    const auto here = !lane->queue.empty() && lane->queue.front().id == id;
    return {id, here ? lane->queue.front().held->get()->written_us : 0};
  }
  const auto seen = std::max(next_, again_until_);
  const auto first = acked_.next_missing(std::max(seen, idle_through_ + 1));
  if (first > durable_ || backlog() == 0
      || (acked_.last() < seen && backlog() <= seen - 1 - acked_.count()))
    return {};
  const auto here = !page_.empty() && page_.front()->get()->first <= first
                    && first <= page_.front()->get()->last();
  return {first, here ? page_.front()->get()->written_us : 0,
          !here && sessions_.empty()};
}

// -- sending ------------------------------------------------------------------

void delivery_machine::pump(steady_time now, effects& out) {
  do {
    ask_did_pages(now, out);
    take(now);
  } while (send_ready(now, out));
  ask_page(out);
  save(now, out);
  arm(now, out);
}

/// @returns true when room came free on the way.
bool delivery_machine::send_ready(steady_time now, effects& out) {
  bool freed = false;
  while (!ready_.empty() && pick() != nullptr) {
    auto& lane = *ready_.front();
    ready_.pop_front();
    lane.ready = false;
    freed |= send_lane(lane, now, out);
    touch(lane, now);
  }
  return freed;
}

bool delivery_machine::send_lane(delivery_lane& x, steady_time now,
                                 effects& out) {
  if (is_watched(x))
    return false;
  const auto standing = gate_.standing(x.repo);
  bool freed = false;
  while (auto* event = x.next_to_send()) {
    const auto fact = kind_of(event->op()) == kind::fact;
    bool empty = event->id <= standing.erased_through
                 || (!fact && event->held->get()->erased);
    if (fact && !empty) {
      const auto says = wire::parse_account_fact(event->op().body.view());
      empty = !says;
      x.note_fact(event->id, says && says->active);
    }
    if (empty) {
      ++counters_.voided;
      settle(x, *event);
      freed = true;
      continue;
    }
    if (!fact && !standing.active) {
      hold(x, now);
      return true;
    }
    if (!fact && look_back(x, event->id, now))
      return true;
    auto* session = pick();
    if (session == nullptr)
      break;
    send(*session, x, *event, now, out);
  }
  return freed;
}

void delivery_machine::send(delivery_session& to, delivery_lane& lane,
                            delivery_lane::event& x, steady_time now,
                            effects& out) {
  out.sends.push_back({to.id, x.id, x.held->get(), x.index, x.known});
  ++(x.known ? counters_.resent : counters_.sent);
  ++to.unreported;
  to.flights.push_back({x.id, &lane, ++to.sent, now});
  x.flight = std::prev(to.flights.end());
  x.session = &to;
  x.at = delivery_lane::stage::sent;
  x.known = true;
}

/// The session that is least behind with its acks.
delivery_session* delivery_machine::pick() {
  delivery_session* best = nullptr;
  for (auto& [id, x] : sessions_)
    if (!x.blocked_until
        && (best == nullptr || x.flights.size() < best->flights.size()))
      best = &x;
  return best;
}

delivery_session* delivery_machine::find_session(session_id id) {
  const auto i = sessions_.find(id);
  return i != sessions_.end() ? &i->second : nullptr;
}

// -- effects ------------------------------------------------------------------

/// Acks are written at once, one write at a time; the rest may wait.
void delivery_machine::save(steady_time now, effects& out) {
  if (rows_in_flight_ || (!acked_.changed() && letters_gone_.empty()))
    return;
  if (!save_by_)
    save_by_ = now + options_.lazy_write;
  if (!urgent_ && now < *save_by_)
    return;
  auto rows = acked_.take_delta();
  out.rows.emplace(effects::write{rows.position, std::move(rows.erase),
                                  std::move(rows.put), std::move(letters_gone_),
                                  std::move(letters_), settled_,
                                  dead_letters_});
  letters_.clear();
  letters_gone_.clear();
  urgent_ = false;
  save_by_.reset();
  rows_in_flight_ = true;
}

void delivery_machine::arm(steady_time now, effects& out) const {
  const auto at = [&](steady_time x) {
    if (!out.timer || x < *out.timer)
      out.timer = x;
  };
  for (const auto& [id, session] : sessions_) {
    if (session.blocked_until)
      at(*session.blocked_until);
    if (!session.flights.empty())
      at(deadline(session));
  }
  if (!sleeping_.empty())
    at(sleeping_.begin()->until);
  if (blocked_ != nullptr && blocked_since_ + options_.patience > now)
    at(blocked_since_ + options_.patience);
  if (save_by_ && !rows_in_flight_)
    at(*save_by_);
  if (held_lanes_ > 0)
    at(std::max(sweep_at_, now));
}

} // namespace weir::actors
