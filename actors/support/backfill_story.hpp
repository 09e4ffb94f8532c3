#pragma once

#include "base/clock.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace weir::actors {

/// Repos by what has become of their fetches.
struct backfill_counts {
  uint64_t waiting = 0; ///< To be fetched, or being fetched.
  uint64_t synced = 0;
  uint64_t failed = 0; ///< Tried again later.
};

/// What is worth a line in the log.
struct backfill_news {
  enum class what : uint8_t { begun, progress, done };

  what is = what::begun;
  backfill_counts at;
  double per_second = 0; ///< Of the time since the last news.
  /// Of `progress`: when nobody waits any more, at that rate.
  std::optional<std::chrono::seconds> left{};
  std::chrono::seconds took{0}; ///< Of `done`.
};

/// Tells of fetches in the log as a person would: when many begin, how far they
/// are every `limits::story_interval`, and when nobody waits any more. Repos of
/// which few are fetched now and then are told of when it takes long, or
/// together. No clock.
class backfill_story {
public:
  std::optional<backfill_news> look(const backfill_counts& x, steady_time now);

private:
  std::optional<backfill_news> look_idle(const backfill_counts& x,
                                         steady_time now);
  backfill_news tell(backfill_news::what what, const backfill_counts& x,
                     steady_time now);

  bool running_ = false;
  steady_time began_;
  std::optional<steady_time> waits_since_; ///< Somebody, and untold.
  backfill_counts told_;
  std::optional<steady_time> told_at_;
};

} // namespace weir::actors
