#include "simnet/request_faults.hpp"

#include <algorithm>

namespace weir::simnet {

void request_faults::add(order x) {
  const std::lock_guard lock{guard_};
  if (x.count > 0)
    orders_.push_back(std::move(x));
}

std::optional<request_faults::order>
request_faults::take(request_fault what, size_t host, std::string_view did) {
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

void request_faults::clear(request_fault first, request_fault last) {
  const std::lock_guard lock{guard_};
  std::erase_if(orders_, [=](const order& x) {
    return x.what >= first && x.what <= last;
  });
}

uint64_t request_faults::served(request_fault what) const {
  const std::lock_guard lock{guard_};
  return served_[static_cast<size_t>(what)];
}

void request_faults::note_document() {
  const std::lock_guard lock{guard_};
  ++directory_.documents;
}

void request_faults::note_export_page() {
  const std::lock_guard lock{guard_};
  ++directory_.export_pages;
}

request_faults::directory_requests request_faults::directory() const {
  const std::lock_guard lock{guard_};
  return directory_;
}

} // namespace weir::simnet
