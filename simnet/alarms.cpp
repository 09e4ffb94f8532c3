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
  // A timer outlives its own task, so the last ones go now.
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
