#include "actors/identity/lookup_backoff.hpp"

#include "base/limits_doubt.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

steady_time lookup_backoff::failed(const atproto::did& repo, steady_time now) {
  ++in_row_;
  const auto i = failed_.find(repo.str());
  if (i == failed_.end()) {
    if (order_.size() >= max_) {
      failed_.erase(order_.back().repo.str());
      order_.pop_back();
    }
    order_.push_front({repo, limits::lookup_pause_min, {}});
    failed_.emplace(order_.front().repo.str(), order_.begin());
  } else {
    order_.splice(order_.begin(), order_, i->second);
    order_.front().pause = std::min<std::chrono::microseconds>(
      2 * order_.front().pause, limits::lookup_pause_max);
  }
  return order_.front().until = now + order_.front().pause;
}

void lookup_backoff::succeeded(const atproto::did& repo, steady_time now) {
  if (std::exchange(in_row_, 0) >= limits::lookup_forgiven_min
      && (!forgiven_ || now - *forgiven_ >= limits::lookup_pause_max))
    forgiven_ = now;
  const auto i = failed_.find(repo.str());
  if (i == failed_.end())
    return;
  const auto place = i->second;
  failed_.erase(i);
  order_.erase(place);
}

std::optional<steady_time>
lookup_backoff::until(const atproto::did& repo, steady_time now) const {
  const auto i = failed_.find(repo.str());
  if (i == failed_.end() || i->second->until <= now)
    return std::nullopt;
  const auto& x = *i->second;
  if (forgiven_ && x.until - *forgiven_ < x.pause)
    return std::nullopt;
  return x.until;
}

} // namespace weir::actors
