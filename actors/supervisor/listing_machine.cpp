#include "actors/supervisor/listing_machine.hpp"

#include "atproto/identifiers.hpp"

namespace weir::actors {

listing_machine::effects listing_machine::on_wanted(uint32_t upstream,
                                                    steady_time now) {
  auto& x = listings_[upstream];
  if (x.running) {
    x.again = true;
    return {};
  }
  x.due = now;
  return begin(upstream, x);
}

listing_machine::effects listing_machine::begin(uint32_t upstream, state& x) {
  x.running = true;
  x.again = false;
  x.pages = 0;
  x.idle_pages = 0;
  x.cursor.clear();
  x.seen.clear();
  effects out;
  out.fetch = request{upstream, {}};
  return out;
}

listing_machine::effects
listing_machine::on_page(uint32_t upstream, const result<std::string>& cursor,
                         size_t fresh, steady_time now) {
  const auto i = listings_.find(upstream);
  if (i == listings_.end() || !i->second.running)
    return {};
  auto& x = i->second;
  if (!cursor) {
    // Not offered there (protocol.md 9): try again at the next audit.
    const auto never = cursor.error().code == ec::not_found;
    return finish(upstream, x, never ? options_.interval : options_.retry,
                  now);
  }
  x.idle_pages = fresh == 0 ? x.idle_pages + 1 : 0;
  const auto repeats
    = !x.seen.insert(atproto::stable_hash(*cursor)).second;
  if (cursor->empty() || repeats || ++x.pages >= options_.pages_max
      || x.idle_pages >= options_.idle_pages_max) {
    ++finished_;
    return finish(upstream, x, options_.interval, now);
  }
  x.cursor = *cursor;
  effects out;
  out.fetch = request{upstream, x.cursor};
  return out;
}

listing_machine::effects
listing_machine::finish(uint32_t upstream, state& x, std::chrono::seconds wait,
                        steady_time now) {
  x.running = false;
  x.seen.clear();
  if (x.again)
    return begin(upstream, x);
  x.due = now + wait;
  effects out;
  out.finished = true;
  out.timer = next_due();
  return out;
}

listing_machine::effects listing_machine::on_timer(steady_time now) {
  for (auto& [upstream, x] : listings_) {
    if (x.running || x.due > now)
      continue;
    auto out = begin(upstream, x);
    out.timer = next_due();
    return out;
  }
  effects out;
  out.timer = next_due();
  return out;
}

std::optional<steady_time> listing_machine::next_due() const {
  std::optional<steady_time> out;
  for (const auto& [upstream, x] : listings_)
    if (!x.running && (!out || x.due < *out))
      out = x.due;
  return out;
}

} // namespace weir::actors
