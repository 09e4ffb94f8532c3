#pragma once

#include "actors/sweeper/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace weir::actors {

/// What SWEEPER has to do next for the log.
struct trim_effects {
  /// Look for spent blocks from this operation on; answer with `on_looked`, or
  /// `on_failed`.
  std::optional<storage::op_id> look{};
  /// Have the JOURNAL remove these; answer with `on_trimmed`.
  std::vector<storage::op_id> remove{};
  std::optional<steady_time> timer{};
};

/// The pace of trimming the log: laps over its old part in small steps, each of
/// which finds spent blocks and has them removed. Without clock or store.
///
/// # Limits
/// A step is followed by a rest of `limits::trim_rest_factor` times its own
/// length, in which waiting for the JOURNAL counts, so that it yields to other
/// work. Laps are `limits::trim_pause_min` apart, or
/// `limits::trim_pause_factor` times the length of the last one.
class trim_machine {
public:
  /// The node begins.
  trim_effects on_start(steady_time now) {
    lap_began_ = now;
    return look(1, now);
  }

  trim_effects on_looked(storage::spent_blocks x, steady_time now) {
    next_ = x.next;
    if (x.firsts.empty())
      return rest(now);
    return {.remove = std::move(x.firsts)};
  }

  trim_effects on_trimmed(steady_time now) { return rest(now); }

  /// The store could not be read: the next lap tries again.
  trim_effects on_failed(steady_time now) {
    next_ = 0;
    return rest(now);
  }

  trim_effects on_timer(steady_time now) {
    if (!due_ || now < *due_)
      return {};
    due_.reset();
    if (next_ == 0)
      return on_start(now);
    return look(next_, now);
  }

private:
  trim_effects look(storage::op_id from, steady_time now) {
    step_began_ = now;
    return {.look = from};
  }

  trim_effects rest(steady_time now) {
    due_ = next_ != 0
             ? now + (now - step_began_) * limits::trim_rest_factor
             : now
                 + std::max(limits::trim_pause_min,
                            (now - lap_began_) * limits::trim_pause_factor);
    return {.timer = due_};
  }

  storage::op_id next_ = 0; ///< The next step begins here; 0: a lap is over.
  steady_time lap_began_{};
  steady_time step_began_{};
  std::optional<steady_time> due_; ///< None: a step is under way.
};

} // namespace weir::actors
