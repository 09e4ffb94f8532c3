#include "actors/support/backfill_story.hpp"

#include "base/limits_story.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

using std::chrono::seconds;

std::optional<backfill_news> backfill_story::look(const backfill_counts& x,
                                                  steady_time now) {
  if (!told_at_) { // What an earlier start synced is no news.
    told_ = x;
    told_at_ = now;
  }
  if (!running_)
    return look_idle(x, now);
  if (x.waiting == 0) {
    running_ = false;
    auto out = tell(backfill_news::what::done, x, now);
    out.took = std::chrono::ceil<seconds>(now - began_);
    return out;
  }
  if (now - *told_at_ < limits::story_interval)
    return std::nullopt;
  auto out = tell(backfill_news::what::progress, x, now);
  if (out.per_second > 0)
    out.left = seconds{static_cast<int64_t>(static_cast<double>(x.waiting)
                                            / out.per_second)};
  return out;
}

std::optional<backfill_news>
backfill_story::look_idle(const backfill_counts& x, steady_time now) {
  if (x.waiting == 0)
    waits_since_.reset();
  else if (!waits_since_)
    waits_since_ = now;
  const auto lasts
    = waits_since_ && now - *waits_since_ >= limits::story_interval;
  if (x.waiting >= limits::story_repos_min || lasts) {
    began_ = *std::exchange(waits_since_, std::nullopt);
    running_ = true;
    return tell(backfill_news::what::begun, x, now);
  }
  // Fast: many are told of at once, few of a while together.
  told_.synced = std::min(told_.synced, x.synced);
  const auto more = x.synced - told_.synced;
  if (x.waiting > 0 || more == 0
      || (more < limits::story_repos_min
          && now - *told_at_ < limits::story_interval))
    return std::nullopt;
  return tell(backfill_news::what::done, x, now);
}

backfill_news backfill_story::tell(backfill_news::what what,
                                   const backfill_counts& x, steady_time now) {
  backfill_news out{what, x};
  const auto passed = std::chrono::duration<double>(now - *told_at_).count();
  if (passed > 0 && x.synced > told_.synced)
    out.per_second = static_cast<double>(x.synced - told_.synced) / passed;
  told_ = x;
  told_at_ = now;
  return out;
}

} // namespace weir::actors
