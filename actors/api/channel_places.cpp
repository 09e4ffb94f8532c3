#include "actors/api/channel_places.hpp"

namespace weir::actors {

result<channel_places::place_ptr>
channel_places::take(const net::ip_address& peer) {
  const std::lock_guard guard{mutex_};
  const auto known = taken_.find(peer);
  if (known != taken_.end() && known->second >= of_one_max_)
    return fail(ec::rate_limited, "this address has as many channels as one "
                                  "address may have");
  if (all_ >= all_max_)
    return fail(ec::limit_reached, "all channels of this node are in use");
  ++taken_[peer];
  ++all_;
  return std::make_shared<place>(shared_from_this(), peer, ++last_);
}

void channel_places::give_back(const net::ip_address& peer) {
  const std::lock_guard guard{mutex_};
  --all_;
  const auto known = taken_.find(peer);
  if (--known->second == 0)
    taken_.erase(known);
}

} // namespace weir::actors
