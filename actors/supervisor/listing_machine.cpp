#include "actors/supervisor/listing_machine.hpp"

#include "actors/support/account_sources.hpp"
#include "atproto/identifiers.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

bool is_news(const listed_line& line, const storage::repo_row& row,
             const storage::chain_row* chain, const upstream_board& board) {
  if (!line.rev.defined())
    return false;
  if (account_sources::is_news(
        row.words,
        account_sources::listed_by(board.find(line.upstream), line.account,
                                   line.asked_at),
        account_sources::has_own_stream(board, row.pds))
      || account_sources::has_strangers(row.words, board))
    return true;
  if (row.status != storage::repo_status::synced)
    return false; // The coming fetch finds it.
  if (chain == nullptr || chain->rev != line.rev)
    return true;
  return line.noted.defined() && !row.fcsr.reaches(line.noted)
         && board.accounting_for(row.pds).id == line.upstream;
}

namespace {

/// A stream that never brought an event is dialled from now on: what it missed
/// until then no position tells.
bool is_nowhere(const position& x) noexcept {
  return x.defined() && x.seq == 0;
}

} // namespace

void listing_machine::restore(row known) {
  listings_[known.what].row = std::move(known.value);
}

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
  if (x.rests_until && now < *x.rests_until) {
    x.row.noted = noted;
    x.begins |= anew;
    return {};
  }
  if (!x.row.done && x.row.cursor.empty())
    return begin(what, x, noted); // No page of it was ever taken.
  if (!anew && !x.row.done && !x.begins)
    return resume(what, x);
  if (!anew && !first)
    return {}; // In its time.
  x.row.noted = noted;
  x.begins = true;
  return await_stream(x, now, wall);
}

/// The listing is due when the stream has told all that its host knows now.
listing_machine::effects
listing_machine::await_stream(state& x, steady_time now, wall_time wall) {
  x.waits = state::patience{wall, now + limits::listing_doubt_max};
  return rest(x, std::max(options_.grace, limits::listing_doubt_step), now);
}

bool listing_machine::may_begin(const listing_id& what, state& x,
                                const upstream_board& board,
                                steady_time now) const {
  if (!x.waits || now >= x.waits->last
      || board.find(what.upstream)
           .told_all(x.waits->since, now, options_.grace))
    return true;
  x.due = std::min(now + limits::listing_doubt_step, x.waits->last);
  return false;
}

/// As many requests an hour as there may be, on average.
std::chrono::seconds
listing_machine::interval_after(size_t requests) const noexcept {
  const std::chrono::seconds hour = std::chrono::hours{1};
  const auto wait = hour * static_cast<int64_t>(std::max<size_t>(requests, 1))
                    / static_cast<int64_t>(options_.requests_per_hour);
  return std::clamp(wait, std::chrono::seconds{1}, options_.interval);
}

listing_machine::effects listing_machine::begin(const listing_id& what,
                                                state& x,
                                                const position& noted) {
  x.row = {};
  x.row.noted = noted;
  return resume(what, x);
}

/// From where the row says.
listing_machine::effects listing_machine::resume(const listing_id& what,
                                                 state& x) {
  x.whole |= x.row.cursor.empty(); // Else its beginning was another run's.
  x.running = true;
  x.again.reset();
  x.due.reset();
  x.waits.reset();
  x.begins = false;
  x.requests = 1;
  x.pages = 0;
  x.idle_pages = 0;
  x.seen = {};
  x.repeated = false;
  effects out;
  out.fetch = request{what, x.row.cursor};
  return out;
}

void listing_machine::on_lines(const listing_id& what, uint64_t print) {
  const auto i = listings_.find(what);
  if (i != listings_.end() && i->second.running)
    i->second.repeated = i->second.seen.repeats(print);
}

listing_machine::effects
listing_machine::on_page(const listing_id& what,
                         const result<std::string>& cursor, size_t lines,
                         steady_time now) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  if (!cursor)
    return take_failure(what, x, cursor.error(), now);
  x.retry = x.mistrust = std::chrono::seconds{0};
  if (x.again && *x.again != x.row.noted)
    return begin(what, x, *x.again);
  const auto idle = std::exchange(x.repeated, false) || lines == 0;
  x.idle_pages = idle ? x.idle_pages + 1 : 0;
  const auto repeats = x.seen.repeats_cursor(atproto::stable_hash(*cursor));
  if (cursor->empty() || repeats || ++x.pages >= options_.pages_max
      || x.idle_pages >= options_.idle_pages_max) {
    ++finished_;
    const auto whole = x.whole && cursor->empty();
    auto out = finish(what, x, interval_after(x.requests), now);
    if (whole && !out.fetch) // Else it is listed anew: events may be missing.
      out.whole = what;
    return out;
  }
  ++x.requests;
  x.row.cursor = *cursor;
  effects out;
  out.fetch = request{what, *cursor};
  out.write = row{what, x.row};
  return out;
}

listing_machine::effects
listing_machine::on_mistrust(const listing_id& what, const std::string& cursor,
                             steady_time now) {
  const auto i = listings_.find(what);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  x.mistrust = std::clamp(x.mistrust * 2, options_.mistrust_min,
                          std::max(options_.mistrust_min, options_.interval));
  if (cursor.empty()) {
    auto out = finish(what, x, x.mistrust, now);
    x.rests_until = x.due;
    return out;
  }
  x.running = false;
  x.row.cursor = cursor;
  auto out = rest(x, x.mistrust, now);
  x.rests_until = x.due;
  out.write = row{what, x.row};
  return out;
}

listing_machine::effects listing_machine::take_failure(const listing_id& what,
                                                       state& x,
                                                       const error& why,
                                                       steady_time now) {
  if (why.code == ec::not_found) // Not offered.
    return finish(what, x, options_.interval, now);
  auto pause = std::chrono::seconds{0};
  if (why.code == ec::malformed) {
    // The host may not know its own cursor any more: all of it comes again.
    x.row.cursor.clear();
    pause = interval_after(x.requests);
  }
  if (x.again) {
    x.row = {};
    x.row.noted = *std::exchange(x.again, std::nullopt);
  }
  x.running = false;
  x.retry = std::clamp(x.retry * 2, options_.retry_min, options_.retry_max);
  return rest(x, std::max(x.retry, pause), now);
}

listing_machine::effects listing_machine::finish(const listing_id& what,
                                                 state& x,
                                                 std::chrono::seconds interval,
                                                 steady_time now) {
  x.running = false;
  x.seen = {};
  if (x.again)
    return begin(what, x, *x.again);
  x.row.cursor.clear();
  x.row.done = true;
  x.begins = true;
  auto out = rest(x, interval, now);
  out.write = row{what, x.row};
  out.finished = true;
  return out;
}

listing_machine::effects
listing_machine::rest(state& x, std::chrono::seconds wait, steady_time now) {
  x.due = now + wait;
  effects out;
  out.timer = next_due();
  return out;
}

listing_machine::effects listing_machine::on_timer(const upstream_board& board,
                                                   steady_time now,
                                                   wall_time wall) {
  effects out;
  for (auto& [what, x] : listings_) {
    if (x.running || !x.due || *x.due > now)
      continue;
    if (x.begins && !x.waits)
      x.waits = state::patience{wall, now + limits::listing_doubt_max};
    if (!may_begin(what, x, board, now))
      continue;
    out = x.begins ? begin(what, x, position{x.row.noted}) : resume(what, x);
    break;
  }
  out.timer = next_due();
  return out;
}

std::optional<steady_time> listing_machine::next_due() const {
  std::optional<steady_time> out;
  for (const auto& [what, x] : listings_)
    if (!x.running && x.due && (!out || *x.due < *out))
      out = x.due;
  return out;
}

} // namespace weir::actors
