#include "actors/identity/lookup_backoff.hpp"

#include "actors/identity/limits.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

/// Servers influence the text of an error, so it is cut, between two
/// characters.
std::string short_text(const error& why) {
  auto out = to_string(why);
  if (out.size() <= limits::lookup_cause_bytes_max)
    return out;
  const auto continues = [](char x) { return (x & 0xC0) == 0x80; };
  auto end = limits::lookup_cause_bytes_max;
  while (end > 0 && continues(out[end]))
    --end;
  out.resize(end);
  out.shrink_to_fit();
  return out;
}

} // namespace

steady_time lookup_backoff::failed(const atproto::did& repo, steady_time now,
                                   const error& why) {
  ++in_row_;
  const auto i = failed_.find(repo.str());
  if (i == failed_.end()) {
    if (order_.size() >= max_) {
      failed_.erase(order_.back().repo.str());
      order_.pop_back();
    }
    order_.push_front({repo, limits::lookup_pause_min, {}, {}});
    failed_.emplace(order_.front().repo.str(), order_.begin());
  } else {
    order_.splice(order_.begin(), order_, i->second);
    order_.front().pause = std::min<std::chrono::microseconds>(
      2 * order_.front().pause, limits::lookup_pause_max);
  }
  order_.front().cause = short_text(why);
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

std::string_view lookup_backoff::cause(const atproto::did& repo) const {
  const auto i = failed_.find(repo.str());
  return i == failed_.end() ? std::string_view{} : i->second->cause;
}

} // namespace weir::actors
