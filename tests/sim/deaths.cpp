#include "tests/sim/deaths.hpp"

#include <caf/scheduled_actor.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <array>

namespace weir::sim {

deaths::deaths(stepper& x) : steps_(x) {
  steps_.set_turn_watch([this](caf::scheduled_actor& who, steady_time now) {
    on_turn(who, now);
  });
}

deaths::~deaths() {
  steps_.set_turn_watch(nullptr);
}

/// Mostly REPOs, which are the most numerous; sometimes another kind.
void deaths::order(const deed& x, steady_time now) {
  constexpr std::array<const char*, 10> others{
    "backfill", "backfill", "upstream",   "identity", "reader",
    "router",   "journal",  "supervisor", "consumer", "sweeper"};
  const auto end = now + x.lasting;
  const auto count = static_cast<size_t>(x.value);
  if (count > 1 || x.number % 2 == 0)
    orders_.push_back({"repo", count, end});
  else
    orders_.push_back({others[x.number / 2 % others.size()], 1, end});
}

void deaths::on_turn(caf::scheduled_actor& x, steady_time now) {
  if (orders_.empty() || x.id() == last_)
    return;
  std::erase_if(orders_, [now](const death& y) {
    return y.count == 0 || y.end < now;
  });
  const auto order
    = std::find_if(orders_.begin(), orders_.end(), [&x](const death& y) {
        return y.kind == x.name();
      });
  if (order == orders_.end())
    return;
  --order->count;
  last_ = x.id();
  caf::anon_send_exit(x.address(), caf::exit_reason::kill);
}

} // namespace weir::sim
