#include "actors/identity/lookup_backoff.hpp"

#include "base/limits_doubt.hpp"

#include <algorithm>

namespace weir::actors {

steady_time lookup_backoff::failed(const atproto::did& repo, steady_time now) {
  auto i = failed_.find(repo);
  if (i == failed_.end()) {
    order_.push_front(repo);
    i = failed_.emplace(repo, failure{limits::lookup_pause_min, {}, {}}).first;
    i->second.place = order_.begin();
  } else {
    order_.splice(order_.begin(), order_, i->second.place);
    i->second.pause = std::min<std::chrono::microseconds>(
      2 * i->second.pause, limits::lookup_pause_max);
  }
  i->second.until = now + i->second.pause;
  if (failed_.size() > max_) {
    failed_.erase(order_.back());
    order_.pop_back();
  }
  return i->second.until;
}

void lookup_backoff::succeeded(const atproto::did& repo) {
  const auto i = failed_.find(repo);
  if (i == failed_.end())
    return;
  order_.erase(i->second.place);
  failed_.erase(i);
}

std::optional<steady_time>
lookup_backoff::until(const atproto::did& repo, steady_time now) const {
  const auto i = failed_.find(repo);
  if (i == failed_.end() || i->second.until <= now)
    return std::nullopt;
  return i->second.until;
}

} // namespace weir::actors
