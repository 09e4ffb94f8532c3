#pragma once

#include "actors/upstream/limits.hpp"
#include "actors/upstream/stream_arrivals.hpp"
#include "atproto/frame.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace weir::actors {

/// @returns when the event of a frame happened; 0 when the frame does not say
/// so. For a commit that is its rev. Other frames name the moment in which
/// their host wrote them: a #sync may show a repo that is unchanged for long.
inline wall_time moment_of(const atproto::frame_peek& x) {
  if (x.kind != atproto::frame_kind::commit)
    return atproto::parse_datetime(x.time).value_or(wall_time{});
  const auto rev = atproto::tid::parse(x.rev);
  return rev ? rev->time() : wall_time{};
}

/// Judges up to which time all events of a stream have come: up to now while it
/// has nothing to send, otherwise as far as its last frames say. The row of the
/// stream keeps that time.
///
/// Frames of repos that are not tracked, and refused frames, are not verified.
/// So no single frame decides: the median of the last `limits::passed_frames`
/// does, and while there are fewer, the missing ones count as very old.
///
/// Part of an `upstream_machine`; one thread.
class stream_quiet {
public:
  /// The time since which it is connected, read, and has nothing in flight.
  const std::optional<steady_time>& since() const noexcept { return since_; }

  void note(bool is_quiet, steady_time now) noexcept {
    if (!is_quiet)
      since_.reset();
    else if (!since_)
      since_ = now;
  }

  /// A frame is finished, and all before it. Without a time it is not counted.
  void add(wall_time changed) noexcept {
    noted_ = false;
    if (changed == wall_time{})
      return;
    times_[next_] = changed;
    next_ = (next_ + 1) % times_.size();
  }

  /// Every event from before this moment has come and is finished.
  wall_time passed() const noexcept {
    auto x = times_;
    const auto at = x.begin() + x.size() / 2;
    std::nth_element(x.begin(), at, x.end());
    return *at;
  }

  /// Numbers start anew.
  void restart() noexcept { times_.fill({}); }

  /// @returns whether to write the row: that of an idle stream is written once.
  bool write(storage::upstream_row& row, const stream_arrivals& arrivals,
             steady_time now, wall_time wall) {
    if (!since_ || now - *since_ < arrivals.quiet_min(now, wall)) {
      const auto delivered = std::min(passed(), wall);
      row.passed_us = std::max(row.passed_us, delivered.micros);
      return false;
    }
    if (!before_)
      before_ = row.passed_us;
    row.passed_us = wall.micros;
    return !std::exchange(noted_, true);
  }

  /// The first frame after a silence shows whether the stream had nothing to
  /// send or was late. If it was late, the row is set back.
  /// @returns whether that changed the row.
  bool judge(storage::upstream_row& row, bool was_quiet) noexcept {
    const auto before = std::exchange(before_, std::nullopt);
    if (was_quiet || !before)
      return false;
    row.passed_us = *before;
    return true;
  }

private:
  /// The times when the events of the last frames happened.
  std::array<wall_time, limits::passed_frames> times_{};
  size_t next_ = 0;
  bool noted_ = false; ///< Nothing came since the row says "up to now".
  std::optional<int64_t> before_; ///< What the row said before that.
  std::optional<steady_time> since_;
};

} // namespace weir::actors
