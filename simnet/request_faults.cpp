#include "simnet/request_faults.hpp"

#include <algorithm>

namespace weir::simnet {

std::optional<request_faults::order>
request_faults::take(fault_kind what, size_t host, std::string_view did) {
  const std::lock_guard lock{guard_};
  std::erase_if(orders_, [now = time_.steady_now()](const order& x) {
    return x.until && *x.until <= now;
  });
  const auto at = std::ranges::find_if(orders_, [&](const order& x) {
    return x.what == what && x.host.value_or(host) == host
           && (x.did.empty() || x.did == did);
  });
  if (at == orders_.end())
    return std::nullopt;
  auto out = *at;
  ++served_[static_cast<size_t>(what)];
  if (--at->count == 0)
    orders_.erase(at);
  return out;
}

} // namespace weir::simnet
