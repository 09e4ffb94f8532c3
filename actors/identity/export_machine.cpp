#include "actors/identity/export_machine.hpp"

#include "actors/support/limits.hpp"
#include "base/stored_time.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

storage::identity_row row_of(const atproto::did_document& x) {
  storage::identity_row out;
  out.signing_key = x.signing_key;
  out.pds = x.pds;
  out.claimed_handle = x.claimed_handle;
  return out;
}

} // namespace

export_machine::effects
export_machine::on_stored(const storage::export_row& place,
                          const std::vector<atproto::did>& names,
                          steady_time now) {
  if (at_ == phase::loading) {
    idle_since_ = now;
    place_ = place;
    at_ = phase::idle;
    if (place_.directory == options_.directory && !options_.directory.empty())
      return {};
  } else if (at_ != phase::clearing) {
    return {};
  }
  // The rows are of another directory, or of an export that ended too early:
  // they are removed, and so is the note that the export was read.
  const storage::export_row none;
  at_ = names.empty() && place_ == none ? phase::idle : phase::clearing;
  if (at_ == phase::idle) {
    place_.directory = options_.directory;
    return {};
  }
  effects out;
  for (const auto& name : names)
    out.rows.emplace_back(name, std::nullopt);
  place_ = none;
  out.place = place_;
  return out;
}

/// Does not read the export now; it is tried again after a pause.
export_machine::effects export_machine::refuse(std::string why,
                                               steady_time now) {
  effects out;
  at_ = phase::idle;
  idle_since_ = now;
  rests_until_ = now + pause_;
  pause_
    = std::min<std::chrono::microseconds>(2 * pause_, limits::export_pause_max);
  if (why != reported_)
    out.refused = why;
  reported_ = std::move(why);
  return out;
}

std::optional<int64_t> export_machine::as_of(wall_time wall) const {
  if (at_ == phase::loading || at_ == phase::clearing || place_.whole_at == 0
      || age_of(place_.whole_at, wall) >= options_.fresh.count())
    return std::nullopt;
  return std::min(place_.whole_at,
                  wall.seconds() - limits::identity_current.count() - 1);
}

bool export_machine::may_begin(size_t wanted, steady_time now,
                               wall_time wall) const {
  if (options_.directory.empty()
      || wanted < std::max<size_t>(options_.wanted_min, 1))
    return false;
  const auto again
    = std::min<std::chrono::seconds>(limits::export_again, options_.fresh);
  if (place_.whole_at != 0 && age_of(place_.whole_at, wall) < again.count())
    return false;
  if (too_long_for_ != 0)
    return wanted >= too_long_for_ + too_long_for_ / 4 || now >= *rests_until_;
  return !rests_until_ || now >= *rests_until_;
}

/// Whether what was read is outdated and not continued.
bool export_machine::is_left(size_t wanted, steady_time now,
                             wall_time wall) const {
  if (wanted >= options_.wanted_min || now < idle_since_ + options_.fresh)
    return false;
  return place_.whole_at == 0
           ? place_.place != 0
           : age_of(place_.whole_at, wall) >= options_.fresh.count();
}

export_machine::effects export_machine::look(size_t waiting, bool limited,
                                             bool room, steady_time now,
                                             wall_time wall) {
  const auto wanted = std::max(waiting, newcomers_);
  const auto rests = limited || !room;
  if (at_ == phase::pausing)
    return next_page(rests, now, wall);
  if (at_ != phase::idle)
    return {};
  if (!rests && may_begin(wanted, now, wall))
    return begin(wanted, now);
  if (is_left(wanted, now, wall))
    return clear({}, now);
  return {};
}

/// Asks whether there is an operation too far away to be worth its cost.
export_machine::effects export_machine::begin(size_t wanted, steady_time now) {
  // A first reading that was cut short may read as much again as it has read.
  const auto paid
    = place_.whole_at == 0 ? place_.place / limits::export_page_lines : 0;
  const auto pages
    = std::max<size_t>({wanted / limits::export_wanted_per_page, paid, 1});
  wanted_ = wanted;
  operations_left_ = (pages + 1) * limits::export_page_lines;
  requests_left_ = pages * limits::export_requests_per_page
                   + limits::export_requests_min;
  lines_ = limits::export_page_lines;
  at_ = phase::probing;
  pages_.charge(now, 1, limits::export_pages_at_once);
  return {.ask = request{place_.place + pages * limits::export_page_lines, 1}};
}

export_machine::effects export_machine::next_page(bool rests, steady_time now,
                                                  wall_time wall) {
  const auto wait = pages_.delay(now);
  if (rests || wait.count() > 0)
    return {.timer = now
                     + std::max<std::chrono::microseconds>(
                       wait, rests ? limits::plc_rest_min : wait)};
  pages_.take(now);
  --requests_left_;
  asked_at_ = wall.seconds();
  at_ = phase::reading;
  return {.ask = request{place_.place == 0 ? 0 : place_.place - 1, lines_}};
}

export_machine::effects export_machine::on_page(
  const std::vector<atproto::exported_operation>& operations, steady_time now) {
  if (at_ == phase::probing) {
    if (!operations.empty()) {
      too_long_for_ = wanted_;
      return refuse("reading all of it would take longer than the look-ups "
                    "wanted so far",
                    now);
    }
    too_long_for_ = 0;
    at_ = phase::pausing;
    return {.timer = now};
  }
  if (at_ != phase::reading)
    return {};
  if (!goes_on_from(operations))
    return clear("it does not go on where it was left", now);
  effects out;
  const size_t known = place_.place == 0 ? 0 : 1;
  for (auto i = known; i < operations.size(); ++i) {
    const auto& x = operations[i];
    out.rows.emplace_back(x.repo,
                          x.doc ? std::optional{row_of(*x.doc)} : std::nullopt);
    place_.place = x.number;
    place_.last = x.id;
  }
  ends_ = out.rows.empty();
  if (ends_)
    place_.whole_at = asked_at_;
  place_.directory = options_.directory;
  operations_ += out.rows.size();
  operations_left_ -= std::min(operations_left_, out.rows.size());
  lines_ = std::min(2 * lines_, limits::export_page_lines);
  out.place = place_;
  at_ = phase::storing;
  return out;
}

export_machine::effects export_machine::on_failed(const error& why,
                                                  steady_time now) {
  if (at_ == phase::reading && why.code == ec::limit_reached
      && lines_ > limits::export_page_lines_min && requests_left_ > 0) {
    lines_ = std::max(lines_ / 4, limits::export_page_lines_min);
    at_ = phase::pausing;
    return {.timer = now};
  }
  if (at_ != phase::reading && at_ != phase::probing)
    return {};
  too_long_for_ = 0;
  return refuse(to_string(why), now);
}

export_machine::effects export_machine::on_durable(steady_time now) {
  if (at_ == phase::clearing)
    return {.list = true};
  if (at_ != phase::storing)
    return {};
  if (ends_) {
    at_ = phase::idle;
    newcomers_ = 0;
    idle_since_ = now;
    pause_ = limits::export_pause_min;
    rests_until_.reset();
    reported_.clear();
    return {.whole = true};
  }
  if (operations_left_ == 0 || requests_left_ == 0)
    return refuse("it goes on for longer than it said", now);
  at_ = phase::pausing;
  return {.timer = now};
}

} // namespace weir::actors
