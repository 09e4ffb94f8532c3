#include "actors/support/backfill_story.hpp"

#include "actors/support/limits.hpp"

namespace weir::actors {

using std::chrono::seconds;

std::vector<backfill_news> backfill_story::look(backfill_counts x,
                                                steady_time now) {
  // The counters are read one after another.
  x.synced = std::max(x.synced, last_.synced);
  if (!last_at_) { // Repos that an earlier start synced are no news.
    last_ = x;
    last_at_ = now;
  }
  if (x.waiting > 0 || x.synced + x.failed != ended_) {
    ended_ = x.synced + x.failed;
    busy_at_ = now;
  }
  if (!running_)
    return look_idle(x, now);
  const seconds rest = x.claimed ? limits::story_claims_rest : limits::story_rest;
  if (now - busy_at_ >= rest)
    return {end(x, now)};
  if (now - *last_at_ < limits::story_interval)
    return {};
  // New accounts, which never stop on a large network, are no backfill.
  if (x.waiting > 0 || x.synced >= last_.synced + limits::story_repos_min)
    slow_since_.reset();
  else if (!slow_since_)
    slow_since_ = last_at_;
  if (slow_since_ && (!x.claimed || now - *slow_since_ >= rest))
    return {end(x, now)};
  auto out = tell(backfill_news::what::progress, x, now);
  if (out.per_second > 0 && x.waiting > 0 && !x.claimed) {
    const auto all = static_cast<double>(x.waiting + x.outdated);
    out.left = seconds{static_cast<int64_t>(all / out.per_second)};
  }
  return {out};
}

std::vector<backfill_news>
backfill_story::look_idle(const backfill_counts& x, steady_time now) {
  if (x.waiting == 0)
    waits_since_.reset();
  else if (!waits_since_)
    waits_since_ = now;
  const auto lasts
    = waits_since_ && now - *waits_since_ >= limits::story_interval;
  if (x.waiting >= limits::story_repos_min || lasts)
    return {begin(x, now)};
  // Fast fetches: many are reported at once, few together after a while.
  const auto more = x.synced - last_.synced;
  if (x.waiting > 0)
    return {};
  if (more == 0) {
    last_.fallen = x.fallen;
    return {};
  }
  const auto many = more >= limits::story_repos_min;
  if (!many && !may_tell(now))
    return {};
  if (!many && last_.outdated == 0 && x.synced_now() <= last_.synced_now()) {
    last_ = x;
    return {};
  }
  auto before = x;
  before.waiting = more;
  before.synced = last_.synced;
  auto begun = begin(before, now);
  last_ = x;
  if (many)
    return {begun};
  synced_before_ = before.synced;
  return {begun, end(x, now)};
}

/// Whether few fetches may be reported: when they rest or go on for long, and
/// not too often. The operator who added the first repos waits for a line.
bool backfill_story::may_tell(steady_time now) const noexcept {
  const auto since = now - *last_at_;
  const auto rests = now - busy_at_ >= limits::story_rest;
  return (rests && (!spoke_ || since >= limits::story_interval))
         || since >= 2 * limits::story_interval;
}

/// @param x The counts at that time.
backfill_news backfill_story::begin(const backfill_counts& x, steady_time now) {
  began_ = x.since.value_or(waits_since_.value_or(*last_at_));
  waits_since_.reset();
  slow_since_.reset();
  running_ = spoke_ = true;
  busy_at_ = now;
  ended_ = 0;
  synced_before_ = last_.synced;
  return tell(backfill_news::what::begun, x, now);
}

backfill_news backfill_story::end(const backfill_counts& x, steady_time now) {
  running_ = false;
  auto out = tell(backfill_news::what::done, x, now);
  out.took = std::max(x.until.value_or(busy_at_), began_) - began_;
  const auto passed = std::chrono::duration<double>(out.took).count();
  const auto synced = x.synced - synced_before_;
  out.per_second = passed > 0 ? static_cast<double>(synced) / passed : 0;
  return out;
}

backfill_news backfill_story::tell(backfill_news::what what,
                                   const backfill_counts& x, steady_time now) {
  backfill_news out{what, x};
  const auto passed = std::chrono::duration<double>(now - *last_at_).count();
  if (passed > 0)
    out.per_second = static_cast<double>(x.synced - last_.synced) / passed;
  last_ = x;
  last_at_ = now;
  return out;
}

} // namespace weir::actors
