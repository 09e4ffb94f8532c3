#include "actors/consumer/log_feed.hpp"

#include "actors/consumer/limits.hpp"
#include "storage/log/limits.hpp"
#include "wire/tap.hpp"

#include <utility>

namespace weir::actors {

namespace {

constexpr const char* too_many_ranges
  = "more events wait for acknowledgement than can be remembered";

/// A fact "active" that is acked here releases nothing, because it is not sent
/// now: the account may be inactive again.
void note_acked(delivery_lane& x, storage::op_id id,
                const storage::logged_operation& op) {
  const auto says = wire::parse_account_fact(op.body.view());
  if (says && !says->active)
    x.note_fact(id, false);
}

} // namespace

// -- the log ------------------------------------------------------------------

void log_feed::ask_page(delivery_effects& out) {
  if (again_from_ != 0 && !page_asked_ && page_.empty()) {
    again_until_ = seen();
    next_ = std::min(next_, std::exchange(again_from_, 0));
    at_end_ = false;
  }
  if (page_asked_ || at_end_ || !page_.empty() || sessions_.empty()
      || !window_.has_room(1) || !window_.fits(limits::log_page_bytes_max))
    return;
  next_ = ledger_.next_open(next_);
  if (next_ > durable_)
    return;
  page_asked_ = true;
  window_.reserve(0, limits::log_page_bytes_max);
  out.page_after = next_ - 1;
}

void log_feed::take_page(std::vector<storage::log_entry_ptr> entries) {
  if (std::exchange(page_asked_, false))
    window_.end_reserve(0, limits::log_page_bytes_max);
  at_end_ = entries.empty();
  for (auto& x : entries)
    page_.push_back(window_.hold(std::move(x)));
}

void log_feed::fill(steady_time now) {
  while (!page_.empty() && !sessions_.empty()
         && ledger_.letters().size() < options_.events_max) {
    const auto& entry = *page_.front()->get();
    if (next_ < entry.first) {
      // Ids have no gaps, except where the log was trimmed.
      ledger_.skip_absent(next_, entry.first - 1);
      next_ = entry.first;
    }
    for (; next_ <= entry.last(); ++next_)
      if (!take_one(page_.front(), next_ - entry.first, now))
        return;
    if (next_ >= again_until_)
      ledger_.recount(entry, next_);
    page_.pop_front();
  }
}

/// @returns false when the operation must wait for room.
bool log_feed::take_one(const held_entry_ptr& held, size_t index,
                        steady_time now) {
  const auto& entry = *held->get();
  const auto& op = entry.ops[index];
  const auto id = entry.first + index;
  if (ledger_.contains(id))
    return true;
  if (id < again_until_)
    return take_again(entry, id);
  const auto what = kind(op);
  if (what == delivery_kind::implicit) {
    ledger_.skip(id, storage::is_event_scope(op.scope));
    return true;
  }
  auto* records = lanes_.find(entry.repo, false);
  const auto held_back = records != nullptr && records->held;
  auto* lane = held_back && what == delivery_kind::fact
                 ? lanes_.find(entry.repo, true)
                 : records;
  if (lane != nullptr && (lane->held || lane->behind())) {
    pass(*lane, id, op);
    return true;
  }
  if (lane != nullptr && lane->queue.size() >= options_.did_events_max)
    return let_pass(*lane, id, op, now);
  if (starved_ || !window_.has_room(1))
    return false;
  if (lane == nullptr)
    lane = &lanes_.make(entry.repo, records != nullptr);
  lanes_.end_hold_up(lane);
  lanes_.push(*lane, held, index);
  lanes_.touch(*lane, now);
  return true;
}

/// Handles an operation that was read before. What was erased while its DID
/// waited to be read again is no longer in the DID's part of the log, and would
/// wait for ever.
bool log_feed::take_again(const storage::log_entry& entry, op_id id) {
  const auto waits = [&](const delivery_lane* x) {
    return x != nullptr && (x->held || (x->behind() && id >= x->read_from));
  };
  const auto erased
    = entry.erased || id <= accounts_.of(entry.repo).erased_through;
  if (!erased || lanes_.holder(id) != nullptr
      || waits(lanes_.find(entry.repo, false))
      || waits(lanes_.find(entry.repo, true)))
    return true;
  return ledger_.close(id);
}

bool log_feed::let_pass(delivery_lane& x, op_id id,
                        const storage::logged_operation& op, steady_time now) {
  if (!lanes_.hold_up_log(x, now) || !lanes_.may_park(x))
    return false;
  pass(x, id, op);
  lanes_.touch(x, now);
  return true;
}

/// The operation will be read again for its DID. The acks of other DIDs must
/// not form more ranges than can be remembered.
void log_feed::pass(delivery_lane& x, op_id id,
                    const storage::logged_operation& op) {
  if (ledger_.ranges() < options_.ranges_max)
    x.pass(id);
  else
    ledger_.bury(letter_of(x.repo, id, op, 0, too_many_ranges));
}

// -- one DID ------------------------------------------------------------------

void log_feed::ask_did_pages(steady_time now, delivery_effects& out) {
  starved_ = false;
  while (auto* lane = lanes_.next_due()) {
    if (sessions_.empty() || did_pages_asked_ >= limits::consumer_did_pages_max)
      return;
    if ((lane->behind() || lane->looks()) && !lane->held
        && !ask_did_page(*lane, out))
      return;
    lanes_.end_due(now);
  }
}

/// @returns false when there is no room now.
bool log_feed::ask_did_page(delivery_lane& x, delivery_effects& out) {
  const auto share = options_.did_events_max - x.queue.size();
  const auto count = x.attempts > 0
                       ? 1
                       : std::clamp<size_t>(options_.events_max / 4, 1, share);
  if (!window_.fits(limits::consumer_did_page_bytes_max))
    return false;
  if (!window_.has_room(count)) {
    starved_ = true;
    return false;
  }
  x.asked = true;
  x.reserved = count;
  ++did_pages_asked_;
  window_.reserve(count, limits::consumer_did_page_bytes_max);
  const auto from = x.looks() ? x.look_from : x.read_from;
  out.did_pages.push_back({x.repo, x.facts, from - 1, durable_, count});
  return true;
}

bool log_feed::take_did_page(const did_page& page, steady_time now) {
  auto* lane = lanes_.find(page.repo, page.facts);
  if (lane == nullptr || !lane->asked)
    return false;
  lane->asked = false;
  --did_pages_asked_;
  const auto room = std::exchange(lane->reserved, 0);
  window_.end_reserve(room, limits::consumer_did_page_bytes_max);
  // The lane may have been parked from an earlier event meanwhile.
  if (lane->looks())
    holds_.look(*lane, page, now);
  else if (page.after < lane->read_from && !read_page(*lane, page, room))
    lane->retry_at = now + limits::empty_page_delay;
  lanes_.touch(*lane, now);
  return true;
}

/// @returns false when the page brought nothing.
bool log_feed::read_page(delivery_lane& x, const did_page& page, size_t room) {
  const auto before = x.read_from;
  x.began = x.began == 0 ? before : std::min(x.began, before);
  const auto full = std::ranges::any_of(*page.entries, [&](const auto& entry) {
    return !read_entry(x, window_.hold(entry), room);
  });
  if (!full && reaches(page, x.through))
    x.read_from = std::max(x.read_from, std::min(page.through, x.through) + 1);
  lanes_.forget_outstanding(x);
  if (!x.behind()) {
    // What was erased meanwhile was not in the part: the log is read again for
    // that.
    const auto first = std::exchange(x.began, 0);
    if (accounts_.of(x.repo).erased_through >= first)
      again_from_ = again_from_ == 0 ? first : std::min(again_from_, first);
  }
  return x.read_from > before;
}

/// @returns false when the lane is full.
bool log_feed::read_entry(delivery_lane& x, const held_entry_ptr& held,
                          size_t& room) {
  const auto& entry = *held->get();
  for (auto id = std::max(x.read_from, entry.first);
       id <= std::min(entry.last(), x.through); ++id) {
    const auto index = id - entry.first;
    const auto what = kind(entry.ops[index]);
    const auto is_acked = ledger_.contains(id);
    const auto wanted = what != delivery_kind::implicit && !is_acked
                        && (!x.facts || what == delivery_kind::fact);
    // It is never sent, so no ack would settle it.
    if (entry.ops[index].outdated && !is_acked)
      ledger_.close(id);
    if (x.facts && what == delivery_kind::fact && is_acked)
      note_acked(x, id, entry.ops[index]);
    if (wanted) {
      if (room == 0)
        return false;
      --room;
      lanes_.push(x, held, index);
    }
    x.read_from = id + 1;
  }
  return true;
}

// -- the oldest event ---------------------------------------------------------

oldest_event log_feed::oldest_due() const noexcept {
  if (const auto [id, lane] = lanes_.first_waiting(); lane != nullptr) {
    const auto here = !lane->queue.empty() && lane->queue.front().id == id;
    return {id, here ? lane->queue.front().held->get()->written_us : 0};
  }
  const auto first = ledger_.next_open(std::max(seen(), idle_through_ + 1));
  if (first > durable_ || ledger_.backlog() == 0
      || (ledger_.last() < seen()
          && ledger_.backlog() <= ledger_.open_before(seen())))
    return {};
  const auto here = !page_.empty() && page_.front()->get()->first <= first
                    && first <= page_.front()->get()->last();
  return {first, here ? page_.front()->get()->written_us : 0,
          !here && sessions_.empty()};
}

oldest_event
log_feed::look_ahead(op_id from, op_id through,
                     std::span<const storage::log_entry_ptr> entries) {
  for (const auto& entry : entries) {
    const auto standing = accounts_.of(entry->repo);
    for (auto id = std::max({from, entry->first, standing.erased_through + 1});
         id <= entry->last(); ++id) {
      const auto what = kind(entry->ops[id - entry->first]);
      if (!ledger_.contains(id) && what != delivery_kind::implicit
          && (what == delivery_kind::fact
              || (standing.active && !entry->erased))) {
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

} // namespace weir::actors
