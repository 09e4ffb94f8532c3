#include "actors/supervisor/listing_machine.hpp"

#include "actors/supervisor/limits_claims.hpp"
#include "net/limits.hpp"

namespace weir::actors {

namespace {

/// Whether the stream never brought an event. No position tells which events it
/// missed before it is connected.
bool is_nowhere(const position& x) noexcept {
  return x.defined() && x.seq == 0;
}

} // namespace

listing_machine::effects listing_machine::on_wanted(const listing_id& what,
                                                    const position& noted,
                                                    steady_time now,
                                                    wall_time wall) {
  auto& x = listings_[what];
  const auto first = !std::exchange(x.known, true);
  const auto anew = noted != x.row.noted || is_nowhere(noted);
  if (x.running) {
    if (anew)
      x.again = noted;
    return {};
  }
  if (const auto until = rest_of(what, x); now < until) {
    x.row.noted = noted;
    return anew || first ? put_off(x, anew, until) : effects{};
  }
  if (!x.row.done && x.row.cursor.empty())
    return begin(what, x, noted, now); // No page of it was ever taken.
  if (!anew && !x.row.done && !x.begins)
    return resume(what, x, now);
  if (!anew && !first)
    return {}; // It runs in its time.
  x.row.noted = noted;
  x.begins = true;
  // A listing that waits is not put off again. Otherwise a stream that misses
  // events more often than the grace time would never be listed.
  return x.waits ? effects{} : await_stream(x, now, wall);
}

listing_machine::effects listing_machine::on_clock_set(steady_time now,
                                                       wall_time wall) {
  for (auto& [what, x] : listings_) {
    if (!x.known)
      continue;
    if (x.in_run) {
      if (!x.again)
        x.again = x.row.noted;
      continue;
    }
    x.begins = true;
    if (const auto until = rest_of(what, x); now < until)
      put_off(x, true, until);
    else if (!x.waits)
      await_stream(x, now, wall);
  }
  return {.timer = next_due()};
}

/// @returns when the next page may be requested: after a failure, mistrust, and
/// a wait for which its host asked in any listing.
steady_time listing_machine::rest_of(const listing_id& what,
                                     const state& x) const {
  const auto i = hosts_.find(what.upstream);
  const auto host = i == hosts_.end() ? std::nullopt : i->second.rests_until;
  return std::max(x.rests_until.value_or(steady_time{}),
                  host.value_or(steady_time{}));
}

/// The listing is wanted now, and has to rest.
listing_machine::effects listing_machine::put_off(state& x, bool anew,
                                                  steady_time until) {
  x.begins |= anew || x.row.done;
  x.ended.reset();
  return rest(x, until);
}

/// The listing is due when the stream has delivered what its host has now.
listing_machine::effects
listing_machine::await_stream(state& x, steady_time now, wall_time wall) {
  x.waits = state::patience{wall, now + limits::listing_wait_max};
  x.ended.reset();
  return rest(x, now + std::max(options_.grace, limits::listing_wait_step));
}

bool listing_machine::may_begin(const listing_id& what, state& x,
                                const upstream_board& board,
                                steady_time now) const {
  if (!x.waits || now >= x.waits->last
      || board.find(what.upstream)
           .sent_all(x.waits->since, now, options_.grace))
    return true;
  x.due = std::min(now + limits::listing_wait_step, x.waits->last);
  return false;
}

listing_machine::host_state&
listing_machine::host_of(const listing_id& what) {
  return hosts_
    .try_emplace(what.upstream, host_state{{options_.requests_per_hour,
                                            options_.interval},
                                           {}})
    .first->second;
}

/// When all listings of an upstream fail for long they keep its budget, too.
std::chrono::seconds listing_machine::retry_most(const listing_id& what) {
  const auto share = std::ranges::count_if(listings_, [&what](const auto& x) {
    return x.first.upstream == what.upstream;
  });
  const auto paid = std::chrono::ceil<std::chrono::seconds>(
    host_of(what).budget.cost() * share);
  return std::max(limits::listing_retry_max,
                  std::min(paid, options_.interval));
}

listing_machine::effects listing_machine::begin(const listing_id& what,
                                                state& x,
                                                const position& noted,
                                                steady_time now) {
  x.row = {};
  x.row.noted = noted;
  return resume(what, x, now);
}

listing_machine::effects listing_machine::ask(const listing_id& what, state& x,
                                              steady_time now) {
  host_of(what).budget.charge(now);
  return {.fetch = request{what, x.row.cursor}};
}

void listing_machine::forget_run(state& x) {
  constexpr uint64_t step = 0x9e3779b97f4a7c15; // Another sample each time.
  x.pages = 0;
  x.idle_pages = 0;
  x.seen = {};
  x.names = seen_names{options_.salt + step * ++runs_};
  x.print.reset();
}

/// Goes on from where the row is. So a host that fails now and then does not
/// lose what was listed before.
listing_machine::effects listing_machine::resume(const listing_id& what,
                                                 state& x, steady_time now) {
  x.whole |= x.row.cursor.empty(); // Otherwise another run began it.
  if (!std::exchange(x.in_run, true) || x.row.cursor.empty())
    forget_run(x);
  x.running = true;
  x.due.reset();
  x.ended.reset();
  x.rests_until.reset();
  x.waits.reset();
  x.begins = false;
  return ask(what, x, now);
}

bool listing_machine::is_compared(const listing_id& what,
                                  uint32_t epoch) const {
  const auto i = listings_.find(what);
  if (i == listings_.end() || i->second.running)
    return false;
  const auto& x = i->second;
  return x.retry.count() > 0 || x.compared == epoch;
}

void listing_machine::on_lines(const listing_id& what,
                               const std::vector<uint64_t>& repos) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return;
  auto& x = i->second;
  uint64_t print = 0; // It does not depend on the order of the repos.
  for (const auto repo : repos) {
    print += repo;
    x.names.add(repo);
  }
  x.print = print;
}

listing_machine::effects
listing_machine::on_page(const listing_id& what,
                         const result<std::string>& cursor, size_t lines,
                         steady_time now, std::chrono::seconds wait) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  if (!cursor)
    return take_failure(what, x, cursor.error(), wait, now);
  x.retry = x.mistrust = x.unproved = x.missing = std::chrono::seconds{0};
  if (x.again && *x.again != x.row.noted && begins_again(x))
    return resume(what, x, now);
  x.names.keep_page();
  const auto idle = x.take_print() || lines == 0;
  x.idle_pages = idle ? x.idle_pages + 1 : 0;
  const auto repeats = x.seen.repeats_cursor(atproto::stable_hash(*cursor));
  if (cursor->empty() || repeats || ++x.pages >= options_.pages_max
      || x.idle_pages >= limits::listing_idle_pages_max
      || x.names.goes_round()) {
    ++finished_;
    const auto whole = x.whole && cursor->empty();
    auto out = finish(what, x, std::chrono::seconds{1}, now);
    out.cut_short = out.finished && !cursor->empty();
    out.audited = out.finished && cursor->empty();
    if (whole && !out.fetch) // Otherwise events may have been missed.
      out.whole = what;
    return out;
  }
  x.row.cursor = *cursor;
  auto out = ask(what, x, now);
  out.write = row{what, x.row};
  return out;
}

listing_machine::effects
listing_machine::on_verdict(const page_verdict& x, const std::string& cursor,
                            size_t lines, steady_time now) {
  if (!x.has_room)
    return on_page(
      x.what, fail(ec::limit_reached, "too many DIDs that are only listed"), 0,
      now);
  if (x.blames())
    return on_mistrust(x.what, cursor, now);
  return x.trusted ? on_page(x.what, cursor, lines, now)
                   : on_unproved(x.what, now);
}

listing_machine::effects
listing_machine::on_mistrust(const listing_id& what, const std::string& cursor,
                             steady_time now) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  x.names.keep_page();
  x.take_print();
  x.mistrust
    = longer(x.mistrust, limits::listing_mistrust_min, options_.interval);
  if (cursor.empty()) {
    auto out = finish(what, x, x.mistrust, now);
    out.finished = false; // What it named may not be everything.
    x.rests_until = x.due;
    return out;
  }
  if (!begins_again(x))
    x.row.cursor = cursor;
  auto out = pause(x, x.mistrust, now);
  out.write = row{what, x.row};
  return out;
}

listing_machine::effects
listing_machine::on_unproved(const listing_id& what, steady_time now) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  x.names.drop_page();
  x.print.reset();
  begins_again(x);
  x.unproved
    = longer(x.unproved, limits::claim_retry, limits::listing_mistrust_min);
  return pause(x, x.unproved, now);
}

/// The listing goes on after this page, but the next page has to wait.
listing_machine::effects listing_machine::pause(state& x,
                                                std::chrono::seconds wait,
                                                steady_time now) {
  x.running = false;
  auto out = rest(x, now + wait);
  x.rests_until = x.due;
  return out;
}

/// Whether events were missed since it began. True only once before its end, or
/// the last pages were never read beside a stream that often misses events.
bool listing_machine::begins_again(state& x) {
  if (!x.again || std::exchange(x.cut, true))
    return false;
  x.row = {};
  x.row.noted = *std::exchange(x.again, std::nullopt);
  return true;
}

listing_machine::effects
listing_machine::take_failure(const listing_id& what, state& x,
                              const error& why, std::chrono::seconds wait,
                              steady_time now) {
  if (why.code == ec::not_found)
    return finish_missing(what, x, now);
  auto& host = host_of(what);
  x.names.drop_page();
  x.print.reset();
  steady_time due;
  if (why.code == ec::malformed) {
    // The host may no longer know its own cursor: the listing begins anew.
    x.row.cursor.clear();
    due = host.budget.free_at();
  }
  begins_again(x);
  x.running = false;
  const auto asked = std::min(wait, limits::retry_wait_max);
  if (why.code == ec::rate_limited) // It answers, and goes on where it was.
    x.retry = asked.count() > 0 ? std::chrono::seconds{0}
                                : limits::listing_retry_min;
  else
    x.retry = longer(x.retry, limits::listing_retry_min, retry_most(what));
  if (asked.count() > 0)
    host.rests_until
      = std::max(host.rests_until.value_or(steady_time{}), now + asked);
  x.rests_until = now + std::max(x.retry, asked);
  return rest(x, std::max(due, *x.rests_until));
}

listing_machine::effects listing_machine::finish(const listing_id& what,
                                                 state& x,
                                                 std::chrono::seconds least,
                                                 steady_time now) {
  x.running = x.in_run = x.cut = false;
  x.seen = {};
  x.names = seen_names{};
  if (x.again)
    return begin(what, x, *std::exchange(x.again, std::nullopt), now);
  x.row.cursor.clear();
  x.row.done = true;
  x.compared = x.row.noted.epoch;
  x.begins = true;
  x.ended = now;
  auto out = rest(x, now + least);
  out.write = row{what, x.row};
  out.finished = true;
  return out;
}

/// A proxy answers so while a relay starts, so the first tries follow fast.
listing_machine::effects
listing_machine::finish_missing(const listing_id& what, state& x,
                                steady_time now) {
  x.missing
    = longer(x.missing, limits::listing_retry_min, options_.interval);
  auto out = finish(what, x, x.missing, now);
  if (!x.running)
    x.ended.reset(); // A refused listing does not count as a listing.
  out.timer = next_due();
  return out;
}

listing_machine::effects listing_machine::rest(state& x, steady_time due) {
  x.due = due;
  return {.timer = next_due()};
}

listing_machine::effects listing_machine::on_timer(const upstream_board& board,
                                                   steady_time now,
                                                   wall_time wall) {
  std::pair<const listing_id, state>* next = nullptr; // The most overdue one.
  for (auto& each : listings_) {
    auto& [what, x] = each;
    if (x.running || !x.due || due_of(what, x) > now)
      continue;
    if (x.begins && !x.waits)
      x.waits = state::patience{wall, now + limits::listing_wait_max};
    if (!may_begin(what, x, board, now))
      continue;
    if (next == nullptr || *x.due < *next->second.due)
      next = &each;
  }
  effects out;
  if (next != nullptr) {
    auto& [what, x] = *next;
    out = x.begins ? begin(what, x, position{x.row.noted}, now)
                   : resume(what, x, now);
  }
  out.timer = next_due();
  return out;
}

std::optional<steady_time> listing_machine::next_due() const {
  std::optional<steady_time> out;
  for (const auto& [what, x] : listings_)
    if (!x.running && x.due)
      out = std::min(out.value_or(due_of(what, x)), due_of(what, x));
  return out;
}

} // namespace weir::actors
