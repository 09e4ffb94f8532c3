#include "actors/consumer/delivery_machine.hpp"
#include "actors/support/limits.hpp"
#include "storage/format/limits.hpp"

#include "wire/tap.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

/// A DID's page that brought nothing is asked for again after this.
constexpr std::chrono::seconds empty_page_delay{1};

constexpr const char* too_many_ranges
  = "more events wait for acknowledgement than can be remembered";

/// Whether it has all up to `through` that its DID has.
bool reaches(const did_entries& page, storage::op_id through) noexcept {
  return page.end
         || (!page.entries.empty() && page.entries.back()->last() >= through);
}

} // namespace

delivery_machine::kind
delivery_machine::kind_of(const storage::logged_operation& op) const noexcept {
  if (op.scope == storage::identity_scope || op.scope == storage::account_scope)
    return kind::fact;
  return !op.scope.starts_with('$') && options_.filter.matches(op.scope)
           ? kind::record
           : kind::implicit;
}

delivery_effects
delivery_machine::on_page(std::vector<storage::log_entry_ptr> entries,
                          steady_time now) {
  effects out;
  if (std::exchange(page_asked_, false))
    reserved_bytes_ -= limits::log_page_bytes_max;
  at_end_ = entries.empty();
  for (auto& x : entries)
    page_.push_back(
      std::make_shared<const held_entry>(std::move(x), held_bytes_));
  pump(now, out);
  return out;
}

delivery_effects delivery_machine::on_did_page(const did_entries& page,
                                               steady_time now) {
  effects out;
  auto* lane = find(page.facts ? facts_ : records_, page.repo);
  if (lane == nullptr || !lane->asked)
    return out;
  lane->asked = false;
  --did_pages_asked_;
  const auto room = std::exchange(lane->reserved, 0);
  reserved_events_ -= room;
  reserved_bytes_ -= limits::consumer_did_page_bytes_max;
  // The lane may have been parked further back meanwhile.
  if (lane->looks())
    look(*lane, page, now);
  else if (page.after < lane->read_from && !read_page(*lane, page, room))
    lane->retry_at = now + empty_page_delay;
  touch(*lane, now);
  pump(now, out);
  return out;
}

// -- asking -------------------------------------------------------------------

bool delivery_machine::fits(size_t bytes) const noexcept {
  const auto used = held_bytes_ + reserved_bytes_;
  return used == 0 || used + bytes <= options_.bytes_max;
}

void delivery_machine::ask_page(effects& out) {
  if (again_from_ != 0 && !page_asked_ && page_.empty()) {
    again_until_ = std::max(again_until_, next_);
    next_ = std::min(next_, std::exchange(again_from_, 0));
    at_end_ = false;
  }
  if (page_asked_ || at_end_ || !page_.empty() || sessions_.empty()
      || events_ + reserved_events_ >= options_.events_max
      || !fits(limits::log_page_bytes_max))
    return;
  next_ = acked_.next_missing(next_);
  if (next_ > durable_)
    return;
  page_asked_ = true;
  reserved_bytes_ += limits::log_page_bytes_max;
  out.page = effects::page_wish{next_ - 1};
}

void delivery_machine::ask_did_pages(steady_time now, effects& out) {
  starved_ = false;
  while (!due_.empty() && !sessions_.empty()
         && did_pages_asked_ < limits::consumer_did_pages_max) {
    auto& lane = *due_.front();
    if ((lane.behind() || lane.looks()) && !lane.held
        && !ask_did_page(lane, out))
      return;
    due_.pop_front();
    lane.due = false;
    touch(lane, now);
  }
}

/// @returns false when there is no room now.
bool delivery_machine::ask_did_page(delivery_lane& x, effects& out) {
  const auto share = options_.did_events_max - x.queue.size();
  const auto count = x.attempts > 0
                       ? 1
                       : std::clamp<size_t>(options_.events_max / 4, 1, share);
  if (!fits(limits::consumer_did_page_bytes_max))
    return false;
  if (events_ + reserved_events_ + count > options_.events_max) {
    starved_ = true;
    return false;
  }
  x.asked = true;
  x.reserved = count;
  ++did_pages_asked_;
  reserved_events_ += count;
  reserved_bytes_ += limits::consumer_did_page_bytes_max;
  const auto from = x.looks() ? x.look_from : x.read_from;
  out.did_pages.push_back({x.repo, x.facts, from - 1, durable_, count});
  return true;
}

// -- the log ------------------------------------------------------------------

/// Takes operations of the page at hand until a window is full.
void delivery_machine::take(steady_time now) {
  while (!page_.empty() && !sessions_.empty()
         && letters_.size() < options_.events_max) {
    const auto& entry = *page_.front()->get();
    if (next_ < entry.first) {
      // Ids are gapless but where a restored log began anew.
      counters_.absent += entry.first - next_;
      acked_.add_range(next_, entry.first - 1);
      next_ = entry.first;
    }
    for (; next_ <= entry.last(); ++next_)
      if (!take_one(page_.front(), next_ - entry.first, now))
        return;
    recount(entry);
    page_.pop_front();
  }
}

/// @returns false when the operation must wait for room.
bool delivery_machine::take_one(const held_entry_ptr& held, size_t index,
                                steady_time now) {
  const auto& entry = *held->get();
  const auto id = entry.first + index;
  if (acked_.contains(id))
    return true;
  if (id < again_until_)
    return take_again(entry, id);
  const auto what = kind_of(entry.ops[index]);
  if (what == kind::implicit) {
    ++counters_.implicit;
    settled_ += storage::is_event_scope(entry.ops[index].scope) ? 1 : 0;
    return acked_.add(id);
  }
  auto* lane = find(records_, entry.repo);
  if (lane != nullptr && lane->held && what == kind::fact)
    lane = find(facts_, entry.repo);
  else if (lane != nullptr && lane->held) {
    pass(*lane, id, entry.ops[index]);
    return true;
  }
  if (lane != nullptr && lane->behind()) {
    pass(*lane, id, entry.ops[index]);
    return true;
  }
  if (lane != nullptr && lane->queue.size() >= options_.did_events_max)
    return let_pass(*lane, id, entry.ops[index], now);
  if (starved_ || events_ + reserved_events_ >= options_.events_max)
    return false;
  if (lane == nullptr)
    lane = &make(entry.repo, find(records_, entry.repo) != nullptr);
  if (blocked_ != lane)
    blocked_ = nullptr;
  push(*lane, held, index);
  touch(*lane, now);
  return true;
}

/// Seen before. What was erased while its DID waited to be read again is not in
/// the DID's part of the log any more, and would wait for ever.
bool delivery_machine::take_again(const storage::log_entry& entry, op_id id) {
  const auto waits = [&](const delivery_lane* x) {
    return x != nullptr && (x->held || (x->behind() && id >= x->read_from));
  };
  const auto erased
    = entry.erased || id <= gate_.standing(entry.repo).erased_through;
  if (!erased || index_.contains(id) || waits(find(records_, entry.repo))
      || waits(find(facts_, entry.repo)))
    return true;
  ++counters_.voided;
  return close(id);
}

/// A DID with a full queue holds up the log for a short while only.
bool delivery_machine::let_pass(delivery_lane& x, op_id id,
                                const storage::logged_operation& op,
                                steady_time now) {
  if (blocked_ != &x) {
    blocked_ = &x;
    blocked_since_ = now;
  }
  if (now < blocked_since_ + options_.patience || !may_park(x))
    return false;
  pass(x, id, op);
  touch(x, now);
  return true;
}

/// The operation will be read again for its DID. The acks of others must not lie in
/// more pieces than can be remembered.
void delivery_machine::pass(delivery_lane& x, op_id id,
                            const storage::logged_operation& op) {
  if (acked_.ranges() < options_.ranges_max)
    x.pass(id);
  else
    bury(letter_of(x.repo, id, op, 0, too_many_ranges));
}

void delivery_machine::push(delivery_lane& x, const held_entry_ptr& held,
                            size_t index) {
  const auto& entry = *held->get();
  delivery_lane::event event;
  event.id = entry.first + index;
  event.held = held;
  event.index = static_cast<uint32_t>(index);
  event.job = entry.job;
  event.barrier = entry.live || kind_of(entry.ops[index]) == kind::fact;
  const auto [i, fresh] = index_.insert_or_assign(event.id, &x);
  event.known = !fresh;
  x.queue.push_back(std::move(event));
  ++events_;
}

oldest_event delivery_machine::look_ahead(
  op_id from, op_id through, std::span<const storage::log_entry_ptr> entries) {
  for (const auto& entry : entries) {
    const auto standing = gate_.standing(entry->repo);
    for (auto id = std::max({from, entry->first, standing.erased_through + 1});
         id <= entry->last(); ++id) {
      const auto what = kind_of(entry->ops[id - entry->first]);
      if (!acked_.contains(id) && what != kind::implicit
          && (what == kind::fact || (standing.active && !entry->erased))) {
        idle_through_ = std::max(idle_through_, id - 1);
        return {id, entry->written_us};
      }
    }
    idle_through_ = std::max(idle_through_, entry->last());
  }
  if (entries.empty())
    idle_through_ = std::max(idle_through_, through);
  return {};
}

// -- one DID's part of the log ------------------------------------------------

/// @returns false when the page led nowhere.
bool delivery_machine::read_page(delivery_lane& x, const did_entries& page,
                                 size_t room) {
  const auto before = x.read_from;
  x.began = x.began == 0 ? before : std::min(x.began, before);
  const auto full = [&] {
    for (const auto& entry : page.entries) {
      const auto held = std::make_shared<const held_entry>(entry, held_bytes_);
      if (!read_entry(x, held, room))
        return true;
    }
    return false;
  }();
  if (!full && reaches(page, x.through))
    x.read_from = std::max(x.read_from, std::min(page.through, x.through) + 1);
  // What was sent before and is not there any more cannot be acked.
  std::erase_if(x.outstanding, [&](op_id id) {
    if (id >= x.read_from)
      return false;
    const auto i = index_.find(id);
    if (i != index_.end() && i->second == &x && x.find(id) == nullptr)
      index_.erase(i);
    return true;
  });
  if (!x.behind())
    end_part(x);
  return x.read_from > before;
}

/// What was erased meanwhile was not in it: the log is read again for that.
void delivery_machine::end_part(delivery_lane& x) {
  const auto first = std::exchange(x.began, 0);
  if (gate_.standing(x.repo).erased_through >= first)
    again_from_ = again_from_ == 0 ? first : std::min(again_from_, first);
}

/// A fact that was not acked may have been told all the same.
void delivery_machine::look(delivery_lane& x, const did_entries& page,
                            steady_time now) {
  const auto before = x.look_from;
  for (const auto& entry : page.entries)
    for (auto id = std::max(x.look_from, entry->first);
         id <= std::min(entry->last(), x.look_through); ++id) {
      const auto& op = entry->ops[id - entry->first];
      x.look_from = id + 1;
      if (kind_of(op) != kind::fact)
        continue;
      const auto says = wire::parse_account_fact(op.body.view());
      if (says && (!says->active || acked_.contains(id)))
        x.told_away = !says->active;
    }
  if (reaches(page, x.look_through))
    x.look_from = x.look_through + 1;
  if (!x.looks())
    end_look(x, now);
  else if (x.look_from == before)
    x.retry_at = now + empty_page_delay;
}

/// One that says that the account is back releases nothing, since nobody hears it
/// now: the account may be away again.
void delivery_machine::note_acked(delivery_lane& x, op_id id,
                                  const storage::logged_operation& op) {
  const auto says = wire::parse_account_fact(op.body.view());
  if (says && !says->active)
    x.note_fact(id, false);
}

/// @returns false when the lane is full.
bool delivery_machine::read_entry(delivery_lane& x, const held_entry_ptr& held,
                                  size_t& room) {
  const auto& entry = *held->get();
  for (auto id = std::max(x.read_from, entry.first);
       id <= std::min(entry.last(), x.through); ++id) {
    const auto index = id - entry.first;
    const auto what = kind_of(entry.ops[index]);
    const auto wanted = what != kind::implicit
                        && (!x.facts || what == kind::fact)
                        && !acked_.contains(id);
    if (x.facts && what == kind::fact && acked_.contains(id))
      note_acked(x, id, entry.ops[index]);
    if (wanted) {
      if (room == 0)
        return false;
      --room;
      push(x, held, index);
    }
    x.read_from = id + 1;
  }
  return true;
}

} // namespace weir::actors
