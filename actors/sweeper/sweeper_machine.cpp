#include "actors/sweeper/sweeper_machine.hpp"

#include <algorithm>

namespace weir::actors {

using storage::erasure_stage;

sweeper_effects sweeper_machine::on_erased() {
  // What waits for its compaction only does not hold up what has just come.
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
  doing_ = to_compact_.empty() ? doing::nothing : doing::resting;
  if (doing_ == doing::resting)
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
  if (doing_ == doing::resting && now >= rest_until_)
    return scan();
  return {};
}

// -- compaction ---------------------------------------------------------------

sweeper_effects sweeper_machine::begin_compaction(steady_time now) {
  doing_ = doing::compacting;
  compacting_since_ = now;
  sweeper_effects out;
  out.compact = true;
  ranges_ = ranges_of(to_compact_);
  if (!ranges_.empty()) {
    out.first = ranges_.front().first;
    out.last = ranges_.front().last;
  }
  return out;
}

/// What several cover is compacted once.
std::deque<sweeper_machine::range>
sweeper_machine::ranges_of(std::vector<storage::open_erasure>& rows) {
  std::sort(rows.begin(), rows.end(), [](const auto& x, const auto& y) {
    return x.row.first < y.row.first;
  });
  std::deque<range> out;
  for (const auto& [repo, row] : rows) {
    if (row.first == 0)
      continue;
    if (!out.empty() && row.first <= out.back().last + 1)
      out.back().last = std::max(out.back().last, row.last);
    else
      out.push_back({row.first, row.last});
  }
  while (out.size() > limits::compaction_ranges_max) {
    auto closest = out.begin();
    for (auto i = out.begin(); std::next(i) != out.end(); ++i)
      if (std::next(i)->first - i->last
          < std::next(closest)->first - closest->last)
        closest = i;
    closest->last = std::next(closest)->last;
    out.erase(std::next(closest));
  }
  return out;
}

sweeper_effects sweeper_machine::on_compacted(storage::op_id next,
                                              steady_time now) {
  if (next != 0)
    ranges_.front().first = next;
  else if (!ranges_.empty())
    ranges_.pop_front();
  sweeper_effects out;
  if (!ranges_.empty()) {
    out.compact = true;
    out.first = ranges_.front().first;
    out.last = ranges_.front().last;
    return out;
  }
  rest_until_
    = now + (now - compacting_since_) * limits::compaction_rest_factor;
  auto over = std::move(to_compact_);
  to_compact_.clear();
  out = scan();
  out.over = std::move(over);
  return out;
}

} // namespace weir::actors
