#include "simnet/pacer.hpp"

#include <algorithm>
#include <chrono>

namespace weir::simnet {

namespace {

constexpr std::chrono::milliseconds turn_interval{5};
constexpr std::chrono::milliseconds turn_length_max{4};
constexpr uint64_t units_at_once = 16;

} // namespace

void pacer::set_rate(double per_second) {
  loop_.post([weak = weak_from_this(), per_second] {
    if (const auto self = weak.lock())
      self->restart(per_second);
  });
}

void pacer::restart(double per_second) {
  rate_ = per_second;
  behind_ = 0;
  done_ = 0;
  start_ = loop_.now();
  if (!timer_)
    timer_ = loop_.make_timer();
  turn();
}

void pacer::turn() {
  if (rate_ <= 0)
    return timer_->cancel();
  const auto end = loop_.now() + turn_length_max;
  for (auto left = due(); left > 0 && loop_.now() < end; left = due()) {
    const auto n = static_cast<size_t>(std::min(left, units_at_once));
    done_ += n;
    if (work_(n) < n)
      break;
  }
  behind_ = due();
  timer_->start(turn_interval, [this] {
    turn();
  });
}

uint64_t pacer::due() const {
  const auto seconds = std::chrono::duration<double>(loop_.now() - start_);
  const auto wanted = static_cast<uint64_t>(seconds.count() * rate_);
  return wanted > done_ ? wanted - done_ : 0;
}

} // namespace weir::simnet
