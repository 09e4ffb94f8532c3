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
  /// Have the JOURNAL erase contents of replaced versions; answer with
  /// `on_erased`.
  bool erase = false;
  /// Look for spent blocks from this operation on; answer with `on_looked`.
  std::optional<storage::op_id> look{};
  /// Have the JOURNAL remove these; answer with `on_trimmed`.
  std::vector<storage::op_id> remove{};
  /// Read which contents have to leave the disk; answer with `on_planned`.
  bool plan = false;
  /// Compact this part of them; answer with `on_compacted`.
  std::optional<storage::content_span> compact{};
  bool purged = false; ///< All of them are gone: the JOURNAL has to note that.
  std::optional<steady_time> timer{};
};

/// The pace of making the log smaller, in laps: first the contents of replaced
/// versions are erased, then the old part of the log is looked through for
/// spent blocks, which are removed, and from time to time the bytes of all that
/// are removed from the disk. Without clock or store.
///
/// # Limits
/// A step is followed by a rest of `limits::trim_rest_factor` times its own
/// length, in which waiting for the JOURNAL counts, so that it yields to other
/// work; a compaction by `limits::compaction_rest_factor` times. Laps are
/// `limits::trim_pause_min` apart, or `limits::trim_pause_factor` times the
/// length of the last one. Bytes are removed once in `limits::purge_pause`, or
/// in `log_retention` when that is shorter.
class trim_machine {
public:
  explicit trim_machine(std::chrono::microseconds retention) noexcept
    : purge_pause_(std::min<std::chrono::microseconds>(limits::purge_pause,
                                                       retention)) {}

  /// The node begins.
  trim_effects on_start(steady_time now) {
    lap_began_ = now;
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
    if (next_ != 0)
      return rest(step::look, now);
    if (now < purge_at_)
      return end_lap(now);
    step_began_ = now;
    return {.plan = true};
  }

  trim_effects on_planned(const std::vector<storage::content_span>& spans,
                          steady_time now) {
    purge_at_ = now + purge_pause_;
    left_ = false;
    spans_.assign(spans.begin(), spans.end());
    return spans_.empty() ? end_lap(now) : run(step::compact, now);
  }

  trim_effects on_compacted(storage::compacted x, steady_time now) {
    left_ |= !x.gone;
    if (x.next != 0)
      spans_.front().first = x.next;
    else
      spans_.pop_front();
    if (!spans_.empty())
      return rest(step::compact, now, limits::compaction_rest_factor);
    auto out = end_lap(now);
    out.purged = !left_; // What is left is compacted again later.
    return out;
  }

  /// The store could not be read: the next lap tries again.
  trim_effects on_failed(steady_time now) { return end_lap(now); }

  trim_effects on_timer(steady_time now) {
    if (!due_ || now < *due_)
      return {};
    due_.reset();
    return then_ == step::lap ? on_start(now) : run(then_, now);
  }

private:
  enum class step : uint8_t { lap, erase, look, compact };

  trim_effects run(step x, steady_time now) {
    step_began_ = now;
    if (x == step::erase)
      return {.erase = true};
    if (x == step::look)
      return {.look = next_};
    return {.compact = spans_.front()};
  }

  trim_effects rest(step then, steady_time now,
                    int factor = limits::trim_rest_factor) {
    then_ = then;
    due_ = now + (now - step_began_) * factor;
    return {.timer = due_};
  }

  trim_effects end_lap(steady_time now) {
    then_ = step::lap;
    due_ = now
           + std::max(limits::trim_pause_min,
                      (now - lap_began_) * limits::trim_pause_factor);
    return {.timer = due_};
  }

  std::chrono::microseconds purge_pause_;
  storage::op_id next_ = 1; ///< Look here next; 0: all was looked at.
  std::deque<storage::content_span> spans_; ///< They are still to be compacted.
  bool left_ = false; ///< A part of them is still on the disk.
  step then_ = step::lap; ///< What follows the rest.
  steady_time lap_began_{};
  steady_time step_began_{};
  steady_time purge_at_{}; ///< No compaction begins before this time.
  std::optional<steady_time> due_; ///< None: a step is under way.
};

} // namespace weir::actors
