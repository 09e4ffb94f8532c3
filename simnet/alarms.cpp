#include "simnet/alarms.hpp"

#include <utility>

namespace weir::simnet {

void alarms::after(std::chrono::microseconds delay, net::task x) {
  loop_.post([weak = weak_from_this(), delay, x = std::move(x)]() mutable {
    if (const auto self = weak.lock())
      self->set(delay, std::move(x));
  });
}

void alarms::set(std::chrono::microseconds delay, net::task x) {
  // Timers that have fired are removed here, since a timer must outlive its own
  // task.
  pending_.remove_if([](const alarm& y) {
    return y.over;
  });
  auto& mine = pending_.emplace_back(alarm{loop_.make_timer()});
  mine.clock->start(delay, [&mine, x = std::move(x)] {
    mine.over = true;
    x();
  });
}

} // namespace weir::simnet
