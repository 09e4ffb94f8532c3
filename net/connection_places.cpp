#include "net/connection_places.hpp"

#include <algorithm>

namespace weir::net {

namespace {

/// Keeps the first `kept` bytes; the rest are zero.
ip_address prefix_of(ip_address x, size_t kept) noexcept {
  std::fill(x.octets.begin() + static_cast<ptrdiff_t>(kept), x.octets.end(),
            uint8_t{0});
  return x;
}

void erase_from(std::map<ip_address, std::set<uint64_t>>& all,
                const ip_address& key, uint64_t x) {
  const auto found = all.find(key);
  if (found == all.end())
    return;
  found->second.erase(x);
  if (found->second.empty())
    all.erase(found);
}

} // namespace

ip_address network_of(const ip_address& x) noexcept {
  constexpr std::array<uint8_t, 12> mapped{0, 0, 0, 0, 0,    0,
                                           0, 0, 0, 0, 0xff, 0xff};
  if (!x.v6)
    return prefix_of(x, 3);
  if (!std::equal(mapped.begin(), mapped.end(), x.octets.begin()))
    return prefix_of(x, 8);
  ip_address out;
  std::copy_n(x.octets.begin() + mapped.size(), 3, out.octets.begin());
  return out;
}

connection_places::admission connection_places::admit(const ip_address& peer) {
  admission out;
  const auto own = per_address_.find(peer);
  const auto network = strangers_by_network_.find(network_of(peer));
  const age_order* from = nullptr;
  if (own != per_address_.end() && own->second >= bounds_.per_address_max) {
    const auto strangers = strangers_by_address_.find(peer);
    if (strangers == strangers_by_address_.end())
      return out;
    from = &strangers->second;
  } else if (network != strangers_by_network_.end()
             && network->second.size() >= bounds_.per_network_max) {
    from = &network->second;
  } else if (strangers_ >= bounds_.strangers_max
             || taken_.size() >= bounds_.all_max) {
    from = fullest();
    if (from == nullptr)
      return out;
  }
  if (from != nullptr) {
    out.victim = *from->begin();
    give_back(*out.victim);
  }
  out.place = ++last_;
  taken_[last_].peer = peer;
  ++per_address_[peer];
  ++strangers_;
  strangers_by_address_[peer].insert(last_);
  strangers_by_network_[network_of(peer)].insert(last_);
  return out;
}

void connection_places::set_known(number x) {
  const auto found = taken_.find(x);
  if (found == taken_.end() || found->second.known)
    return;
  found->second.known = true;
  forget_stranger(x, found->second.peer);
}

void connection_places::give_back(number x) {
  const auto found = taken_.find(x);
  if (found == taken_.end())
    return;
  const auto peer = found->second.peer;
  if (!found->second.known)
    forget_stranger(x, peer);
  taken_.erase(found);
  const auto own = per_address_.find(peer);
  if (--own->second == 0)
    per_address_.erase(own);
}

/// The strangers of the network that has the most; null when there are none.
const connection_places::age_order* connection_places::fullest() const {
  const auto most
    = std::ranges::max_element(strangers_by_network_, {}, [](const auto& x) {
        return x.second.size();
      });
  return most == strangers_by_network_.end() ? nullptr : &most->second;
}

void connection_places::forget_stranger(number x, const ip_address& peer) {
  --strangers_;
  erase_from(strangers_by_address_, peer, x);
  erase_from(strangers_by_network_, network_of(peer), x);
}

} // namespace weir::net
