#include "actors/sweeper/sweeper_machine.hpp"

#include "actors/sweeper/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

using storage::erasure_stage;

sweeper_effects sweeper_machine::on_erased() {
  // Erasings that only wait for their compaction do not delay a new one.
  if (doing_ == doing::nothing || doing_ == doing::resting)
    return scan();
  again_ = true;
  return {};
}

sweeper_effects sweeper_machine::scan() {
  doing_ = doing::scanning;
  again_ = false;
  sweeper_effects out;
  out.scan = true;
  return out;
}

sweeper_effects
sweeper_machine::on_scanned(std::vector<storage::open_erasure> rows,
                            steady_time now) {
  to_step_.clear();
  to_compact_.clear();
  for (auto& x : rows)
    if (x.row.stage != erasure_stage::compact)
      to_step_.push_back(std::move(x.repo));
    else
      to_compact_.push_back(std::move(x));
  if (!to_step_.empty())
    return step();
  if (!to_compact_.empty() && now >= rest_until_)
    return begin_compaction(now);
  if (again_)
    return scan();
  sweeper_effects out;
  if (to_compact_.empty()) {
    doing_ = doing::nothing;
    out.well = std::exchange(failed_, false);
    wait_ = {};
    return out;
  }
  doing_ = doing::resting;
  out.timer = rest_until_;
  return out;
}

sweeper_effects sweeper_machine::step() {
  doing_ = doing::stepping;
  sweeper_effects out;
  out.step = to_step_.front();
  return out;
}

sweeper_effects sweeper_machine::on_stepped(bool more, bool busy,
                                            steady_time now) {
  if (!more)
    to_step_.pop_front();
  if (busy) {
    doing_ = doing::pausing;
    sweeper_effects out;
    out.timer = now + limits::sweep_pause;
    return out;
  }
  return to_step_.empty() ? scan() : step();
}

sweeper_effects sweeper_machine::on_timer(steady_time now) {
  if (doing_ == doing::pausing)
    return to_step_.empty() ? scan() : step();
  if ((doing_ == doing::resting || doing_ == doing::failing)
      && now >= rest_until_)
    return scan();
  return {};
}

// -- compaction ---------------------------------------------------------------

sweeper_effects sweeper_machine::begin_compaction(steady_time now) {
  doing_ = doing::compacting;
  compacting_since_ = now;
  left_ = false;
  ranges_ = ranges_of(to_compact_);
  sweeper_effects out;
  out.compact = ranges_.front();
  return out;
}

/// A range that several erasings cover is compacted once.
std::deque<sweeper_range>
sweeper_machine::ranges_of(const std::vector<storage::open_erasure>& rows) {
  std::vector<storage::content_span> content;
  for (const auto& x : rows)
    for (const auto& span : x.row.content)
      storage::add_span(content, span, limits::compaction_ranges_max);
  std::deque<sweeper_range> out;
  for (const auto& span : content)
    out.push_back({span, {}, {}});
  const auto together
    = (rows.size() - 1) / limits::compaction_ranges_max + 1;
  for (size_t i = 0; i < rows.size(); i += together)
    out.push_back({{},
                   rows[i].repo,
                   rows[std::min(i + together, rows.size()) - 1].repo});
  return out;
}

sweeper_effects sweeper_machine::on_compacted(storage::compacted x,
                                              steady_time now) {
  left_ = left_ || !x.gone;
  if (x.next != 0)
    ranges_.front().content.first = x.next;
  else
    ranges_.pop_front();
  if (ranges_.empty())
    return end_compaction(now);
  sweeper_effects out;
  out.compact = ranges_.front();
  return out;
}

/// All erasings of a scan end together. What is left of one is found by the
/// next scan.
sweeper_effects sweeper_machine::end_compaction(steady_time now) {
  rest_until_
    = now + (now - compacting_since_) * limits::compaction_rest_factor;
  auto over = std::move(to_compact_);
  to_compact_.clear();
  auto out = scan();
  if (left_) {
    rest_until_ = std::max(rest_until_, retry(now));
    return out;
  }
  out.over = std::move(over);
  out.well = std::exchange(failed_, false);
  wait_ = {};
  return out;
}

// -- failures -----------------------------------------------------------------

sweeper_effects sweeper_machine::on_failed(steady_time now) {
  sweeper_effects out;
  out.trouble = !std::exchange(failed_, true);
  ranges_.clear();
  to_compact_.clear();
  doing_ = doing::failing;
  rest_until_ = retry(now);
  out.timer = rest_until_;
  return out;
}

steady_time sweeper_machine::retry(steady_time now) {
  wait_ = std::clamp<std::chrono::microseconds>(
    2 * wait_, limits::sweep_retry_min, limits::sweep_retry_max);
  return now + wait_;
}

} // namespace weir::actors
