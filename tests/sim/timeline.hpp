#pragma once

#include "base/clock.hpp"
#include "net/event_loop.hpp"

#include <chrono>
#include <map>
#include <optional>
#include <utility>

namespace weir::sim {

/// Virtual time and its alarms. Time stands still while a task can run, and
/// then jumps to the next alarm, so that years pass in minutes.
class timeline {
public:
  /// Names one alarm. Alarms of the same moment ring in the order in which they
  /// were made.
  using key = std::pair<steady_time, uint64_t>;

  /// The time at which each run begins.
  static constexpr steady_time begin{1'000'000'000};

  steady_time now() const noexcept { return now_; }

  key set(steady_time due, net::task x) {
    const key out{std::max(due, now_), ++last_};
    alarms_.emplace(out, std::move(x));
    return out;
  }

  void cancel(const key& x) {
    // Destroying the callback may cancel other alarms.
    const auto ended = alarms_.extract(x);
  }

  std::optional<steady_time> next_due() const {
    if (alarms_.empty())
      return std::nullopt;
    return alarms_.begin()->first.first;
  }

  /// Runs the first alarm that is due. False: none is due.
  bool ring() {
    if (alarms_.empty() || alarms_.begin()->first.first > now_)
      return false;
    const auto alarm = alarms_.extract(alarms_.begin());
    alarm.mapped()();
    return true;
  }

  /// @pre `to` is not before `now()`
  void jump(steady_time to) noexcept { now_ = to; }

  /// Drops all alarms.
  void clear() {
    while (!alarms_.empty())
      const auto ended = alarms_.extract(alarms_.begin());
  }

  size_t waiting() const noexcept { return alarms_.size(); }

private:
  steady_time now_{begin};
  std::map<key, net::task> alarms_;
  uint64_t last_ = 0;
};

/// The clocks of a machine: the steady one is that of the timeline, the wall
/// clock may be wrong by any amount.
class virtual_clock final : public clock {
public:
  explicit virtual_clock(const timeline& time) : time_(time) {
    // nop
  }

  steady_time steady_now() const noexcept override { return time_.now(); }

  wall_time wall_now() const noexcept override {
    return wall_time{start.micros + time_.now().micros} + wrong_by_;
  }

  /// Makes the wall clock show the true time plus `x`.
  void set_wrong(std::chrono::microseconds x) noexcept { wrong_by_ = x; }

  std::chrono::microseconds wrong_by() const noexcept { return wrong_by_; }

private:
  /// In November 2023, later than everything a simulated network starts with.
  static constexpr wall_time start{1'700'000'000'000'000};

  const timeline& time_;
  std::chrono::microseconds wrong_by_{0};
};

} // namespace weir::sim
