#include "simnet/event_log.hpp"

#include <cassert>
#include <utility>

namespace weir::simnet {

void event_log::make_more() const {
  if (!spring_)
    return;
  {
    const std::lock_guard lock{guard_};
    if (held_after_)
      return; // All clients would get nothing and ask again.
  }
  spring_();
}

int64_t event_log::append(size_t account, const encoder& encode) {
  int64_t seq = 0;
  {
    const std::lock_guard lock{guard_};
    seq = newest_ + 1;
    store({seq, account, shared_bytes{encode(seq)}});
  }
  announce();
  return seq;
}

void event_log::append(size_t account, int64_t seq, shared_bytes frame) {
  {
    const std::lock_guard lock{guard_};
    assert(seq > newest_);
    store({seq, account, std::move(frame)});
  }
  announce();
}

std::vector<size_t> event_log::end_loss(bool announced) {
  const std::lock_guard lock{guard_};
  losing_ = loss::none;
  if (announced) {
    horizon_ = newest_;
    entries_.clear();
    bytes_ = 0;
  }
  return std::exchange(lost_, {});
}

void event_log::erase(size_t account) {
  const std::lock_guard lock{guard_};
  std::erase_if(entries_, [this, account](const entry& x) {
    if (x.account != account)
      return false;
    bytes_ -= x.frame.size();
    return true;
  });
}

void event_log::restart() {
  const std::lock_guard lock{guard_};
  entries_.clear();
  bytes_ = 0;
  newest_ = 0;
  horizon_ = 0;
  if (held_after_)
    held_after_ = 0;
}

size_t event_log::repeat(size_t events) {
  int64_t cursor = 0;
  size_t out = 0;
  {
    const std::lock_guard lock{guard_};
    const auto end
      = std::ranges::upper_bound(entries_, shown(), {}, &entry::seq);
    out = std::min(events, static_cast<size_t>(end - entries_.begin()));
    if (out == 0)
      return 0;
    cursor = (end - static_cast<std::ptrdiff_t>(out))->seq - 1;
  }
  for (const auto& x : listeners())
    x->on_repeat(cursor);
  return out;
}

void event_log::let_go() {
  {
    const std::lock_guard lock{guard_};
    held_after_.reset();
  }
  announce();
}

size_t event_log::cut() {
  const auto all = listeners();
  for (const auto& x : all)
    x->on_cut();
  return all.size();
}

event_log::cursor_state event_log::judge(int64_t cursor) const {
  const std::lock_guard lock{guard_};
  if (cursor > newest_)
    return cursor_state::future;
  return cursor < horizon_ ? cursor_state::outdated : cursor_state::good;
}

std::vector<event_log::numbered_frame>
event_log::read(int64_t cursor, size_t frames_max, size_t bytes_max) const {
  const std::lock_guard lock{guard_};
  auto at = std::ranges::upper_bound(entries_, cursor, {}, &entry::seq);
  std::vector<numbered_frame> out;
  const auto last = shown();
  for (size_t size = 0; at != entries_.end() && at->seq <= last; ++at) {
    size += at->frame.size();
    if (!out.empty() && (out.size() >= frames_max || size > bytes_max))
      break;
    out.push_back({at->seq, at->frame});
  }
  return out;
}

std::vector<std::shared_ptr<event_log::listener>> event_log::listeners() const {
  std::vector<std::shared_ptr<listener>> out;
  const std::lock_guard lock{guard_};
  std::erase_if(listeners_, [&out](const std::weak_ptr<listener>& x) {
    auto strong = x.lock();
    if (!strong)
      return true;
    out.push_back(std::move(strong));
    return false;
  });
  return out;
}

/// @pre the lock is held.
void event_log::store(entry x) {
  newest_ = x.seq;
  if (losing_ != loss::none)
    lost_.push_back(x.account);
  if (losing_ == loss::gone)
    return;
  if (losing_ == loss::garbled) {
    const auto whole = x.frame.view();
    x.frame
      = shared_bytes{bytes{whole.begin(), whole.begin() + whole.size() / 2}};
  }
  bytes_ += x.frame.size();
  entries_.push_back(std::move(x));
  while (entries_.size() > window_.frames_max
         || (bytes_ > window_.bytes_max && entries_.size() > 1)) {
    bytes_ -= entries_.front().frame.size();
    horizon_ = std::max(horizon_, entries_.front().seq);
    entries_.pop_front();
  }
}

} // namespace weir::simnet
