#pragma once

#include "actors/sweeper/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

/// What SWEEPER has to do next for the log: one of these, or wait for its
/// timer. When one fails, `on_failed` is the answer.
struct trim_effects {
  /// Find out which part of the log is old; answer with `on_horizon`.
  bool begin = false;
  /// Have the JOURNAL erase the contents that operations before this one
  /// replaced; answer with `on_erased`.
  std::optional<storage::op_id> erase{};
  /// Look for spent blocks from here on; answer with `on_looked`.
  struct look_at {
    storage::op_id from = 1;
    storage::op_id until = 1;
  };
  std::optional<look_at> look{};
  /// Have the JOURNAL remove these; answer with `on_trimmed`.
  std::vector<storage::op_id> remove{};
  /// Read which contents have to leave the disk; answer with `on_planned`.
  bool plan = false;
  /// Compact this part of them; answer with `on_compacted`.
  std::optional<storage::content_span> compact{};
  bool purged = false; ///< All of them are gone: the JOURNAL has to note that.
  std::optional<steady_time> timer{};
};

/// The pace of making the log smaller. In laps: first the contents of replaced
/// versions are erased, then the old part of the log is looked through for
/// spent blocks, which are removed. Beside that, between two steps, the bytes
/// of all that are removed from the disk from time to time. Without clock or
/// store.
///
/// # Limits
/// A step is followed by a rest of `limits::trim_rest_factor` times its own
/// length, in which waiting for the JOURNAL counts, so that it yields to other
/// work; a compaction by `limits::compaction_rest_factor` times. Laps are
/// `limits::trim_pause_min` apart, or `limits::trim_pause_factor` times the
/// length of the last one. `limits::purge_pause` after the bytes were removed,
/// or `log_retention` when that is shorter, they are again; and
/// `limits::purge_retry` after that failed.
class trim_machine {
public:
  /// @param retention 0: there are no laps.
  explicit trim_machine(std::chrono::microseconds retention) noexcept
    : has_laps_(retention.count() > 0),
      purge_pause_(has_laps_ ? std::min<std::chrono::microseconds>(
                     limits::purge_pause, retention)
                             : limits::purge_pause) {}

  /// The node begins.
  trim_effects on_start(steady_time now) {
    if (has_laps_)
      return begin_lap(now);
    due_ = never;
    return wait(now);
  }

  /// @param old Operations before this one are old.
  trim_effects on_horizon(storage::op_id old, steady_time now) {
    old_ = old;
    return run(step::erase, now);
  }

  /// @param more There are more contents to look at.
  trim_effects on_erased(bool more, steady_time now) {
    next_ = 1;
    return rest(more ? step::erase : step::look, now);
  }

  trim_effects on_looked(storage::spent_blocks x, steady_time now) {
    next_ = x.next;
    if (x.firsts.empty())
      return on_trimmed(now);
    return {.remove = std::move(x.firsts)};
  }

  trim_effects on_trimmed(steady_time now) {
    return next_ != 0 ? rest(step::look, now) : end_lap(now);
  }

  trim_effects on_planned(const std::vector<storage::content_span>& spans,
                          steady_time now) {
    left_ = false;
    spans_.assign(spans.begin(), spans.end());
    return spans_.empty() ? end_purge(true, now) : compact(now);
  }

  trim_effects on_compacted(storage::compacted x, steady_time now) {
    left_ |= !x.gone;
    if (x.next != 0)
      spans_.front().first = x.next;
    else
      spans_.pop_front();
    if (spans_.empty()) {
      auto out = end_purge(!left_, now);
      out.purged = !left_;
      return out;
    }
    compact_at_ = now + (now - step_began_) * limits::compaction_rest_factor;
    return {.timer = compact_at_};
  }

  /// The store could not be read: it is tried again later.
  trim_effects on_failed(steady_time now) {
    return purging_ ? end_purge(false, now) : end_lap(now);
  }

  trim_effects on_timer(steady_time now) {
    if (compact_at_ && now >= *compact_at_)
      return compact(now);
    if (purging_ || !due_)
      return {};
    if (now >= purge_at_) {
      purging_ = true;
      purge_began_ = now;
      return {.plan = true};
    }
    return now >= *due_ ? go_on(now) : wait(now);
  }

private:
  enum class step : uint8_t { lap, erase, look };

  static constexpr auto never = steady_time{INT64_MAX};

  trim_effects begin_lap(steady_time now) {
    lap_began_ = now;
    due_.reset();
    return {.begin = true};
  }

  trim_effects go_on(steady_time now) {
    due_.reset();
    return then_ == step::lap ? begin_lap(now) : run(then_, now);
  }

  trim_effects run(step x, steady_time now) {
    step_began_ = now;
    if (x == step::erase)
      return {.erase = old_};
    return {.look = trim_effects::look_at{next_, old_}};
  }

  trim_effects compact(steady_time now) {
    compact_at_.reset();
    step_began_ = now;
    return {.compact = spans_.front()};
  }

  /// Goes on with the lap, whose length does not count the compaction.
  trim_effects end_purge(bool complete, steady_time now) {
    purging_ = false;
    spans_.clear();
    lap_began_ = lap_began_ + (now - purge_began_);
    purge_at_ = now
                + (complete ? purge_pause_
                            : std::min<std::chrono::microseconds>(
                              purge_pause_, limits::purge_retry));
    return wait(now);
  }

  trim_effects rest(step then, steady_time now) {
    then_ = then;
    due_ = now + (now - step_began_) * limits::trim_rest_factor;
    return wait(now);
  }

  trim_effects end_lap(steady_time now) {
    then_ = step::lap;
    due_ = now
           + std::max(limits::trim_pause_min,
                      (now - lap_began_) * limits::trim_pause_factor);
    return wait(now);
  }

  trim_effects wait(steady_time now) const {
    return {.timer = std::max(now, std::min(*due_, purge_at_))};
  }

  bool has_laps_;
  std::chrono::microseconds purge_pause_;
  storage::op_id old_ = 1;  ///< What this lap counts as old ends here.
  storage::op_id next_ = 1; ///< Look here next; 0: all was looked at.
  step then_ = step::lap;   ///< What follows the rest.
  std::optional<steady_time> due_; ///< Its end; none: a step is under way.
  steady_time lap_began_{};
  steady_time step_began_{};

  // -- the purge --------------------------------------------------------------

  bool purging_ = false;
  std::deque<storage::content_span> spans_; ///< They are still to be compacted.
  bool left_ = false; ///< A part of them is still on the disk.
  std::optional<steady_time> compact_at_; ///< The end of a rest.
  steady_time purge_began_{};
  steady_time purge_at_{}; ///< No purge begins before this time.
};

} // namespace weir::actors
