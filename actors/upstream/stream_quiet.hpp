#pragma once

#include "actors/upstream/passed_times.hpp"
#include "actors/upstream/stream_arrivals.hpp"
#include "atproto/frame.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace weir::actors {

/// When what the frame tells happened; 0: it does not say. A commit is as old
/// as its rev. The others are of the moment in which their host wrote them: a
/// #sync may show a repo that has not changed for long.
inline wall_time moment_of(const atproto::frame_peek& x) {
  if (x.kind != atproto::frame_kind::commit)
    return atproto::parse_datetime(x.time).value_or(wall_time{});
  const auto rev = atproto::tid::parse(x.rev);
  return rev ? rev->time() : wall_time{};
}

/// How far a stream is by the time of day: up to now while it is quiet, else as
/// far as its last frames say. Its row says that, too.
///
/// Part of an `upstream_machine`; one thread.
class stream_quiet {
public:
  /// Connected and read, with nothing in flight, since then.
  const std::optional<steady_time>& since() const noexcept { return since_; }

  void note(bool is_quiet, steady_time now) noexcept {
    if (!is_quiet)
      since_.reset();
    else if (!since_)
      since_ = now;
  }

  /// A frame is finished, and all before it.
  void add(wall_time changed) noexcept {
    times_.add(changed);
    noted_ = false;
  }

  /// What changed before this moment has come and is finished.
  wall_time passed() const noexcept { return times_.middle(); }

  /// Numbers start anew.
  void restart() noexcept { times_.clear(); }

  /// @returns whether the row is to be written: that of an idle stream is not
  /// written again and again.
  bool write(storage::upstream_row& row, const stream_arrivals& arrivals,
             steady_time now, wall_time wall) {
    if (!since_ || now - *since_ < arrivals.quiet_min(now, wall)) {
      const auto told = std::min(times_.middle(), wall);
      row.passed_us = std::max(row.passed_us, told.micros);
      return false;
    }
    if (!before_)
      before_ = row.passed_us;
    row.passed_us = wall.micros;
    return !std::exchange(noted_, true);
  }

  /// What came after a silence shows whether the stream was quiet. When it was
  /// not, the row says again what it said before.
  /// @returns whether that changed the row.
  bool judge(storage::upstream_row& row, bool was_quiet) noexcept {
    const auto before = std::exchange(before_, std::nullopt);
    if (was_quiet || !before)
      return false;
    row.passed_us = *before;
    return true;
  }

private:
  passed_times times_;
  bool noted_ = false; ///< Nothing came since the row says "up to now".
  std::optional<int64_t> before_; ///< What the row said before that.
  std::optional<steady_time> since_;
};

} // namespace weir::actors
