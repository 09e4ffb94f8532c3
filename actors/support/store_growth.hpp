#pragma once

#include "actors/support/limits.hpp"
#include "base/clock.hpp"
#include "storage/format/table_family.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

namespace weir::actors {

/// Size of the store and its growth, measured over the last day.
///
/// # Threads
/// Any.
class store_growth {
public:
  void note(const storage::family_sizes& x, steady_time now) {
    const std::lock_guard guard{mutex_};
    last_ = x;
    if (!seen_.empty() && now - seen_.back().at < limits::growth_interval)
      return;
    while (!seen_.empty() && now - seen_.front().at > limits::growth_memory)
      seen_.pop_front();
    seen_.push_back({now, storage::total_bytes(x)});
  }

  /// The sizes that were noted last.
  storage::family_sizes sizes() const {
    const std::lock_guard guard{mutex_};
    return last_;
  }

  /// Bytes a day, negative while it shrinks; none before
  /// `limits::growth_interval` is over.
  std::optional<double> per_day() const {
    const std::lock_guard guard{mutex_};
    if (seen_.size() < 2)
      return std::nullopt;
    const auto& first = seen_.front();
    const auto& last = seen_.back();
    const std::chrono::duration<double, std::ratio<86'400>> days{last.at
                                                                 - first.at};
    return (static_cast<double>(last.bytes) - static_cast<double>(first.bytes))
           / days.count();
  }

private:
  struct size_then {
    steady_time at;
    uint64_t bytes = 0;
  };

  mutable std::mutex mutex_;
  storage::family_sizes last_{};
  std::deque<size_then> seen_; ///< One in each `limits::growth_interval`.
};

} // namespace weir::actors
