#pragma once

#include "net/ip_address.hpp"
#include "net/limits.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace weir::net {

/// The network of an address: /24 of IPv4, also in its IPv6 form, and /64 of
/// IPv6, which is what one customer has at least.
ip_address network_of(const ip_address& x) noexcept;

/// Who may have a connection. A client is a stranger until it has shown that it
/// may ask. Strangers have a share of all places, of which one network and one
/// address have a share again; a stranger who comes beyond it takes the place
/// of the oldest one, so that whoever knows the password always gets as far as
/// saying it. Places of those who have said it are taken by nobody. No I/O.
///
/// # Threads
/// A value for one thread.
class connection_places {
public:
  struct bounds {
    size_t all_max = limits::http_server_connections_max;
    size_t strangers_max = limits::http_server_strangers_max;
    size_t per_network_max = limits::http_server_per_network_max;
    /// Also of those who are known.
    size_t per_address_max = limits::http_server_per_address_max;
  };

  using number = uint64_t;

  struct admission {
    std::optional<number> place;  ///< Unset: it is refused.
    std::optional<number> victim; ///< Has no place any more.
  };

  explicit connection_places(const bounds& x) : bounds_(x) {}

  admission admit(const ip_address& peer);

  /// Its client has shown that it may ask.
  void set_known(number x);

  /// No-op for a victim.
  void give_back(number x);

  size_t taken() const noexcept { return taken_.size(); }

private:
  struct place {
    ip_address peer;
    bool known = false;
  };

  using age_order = std::set<number>;

  const age_order* most_crowded() const;
  void forget_stranger(number x, const ip_address& peer);

  bounds bounds_;
  number last_ = 0;
  std::map<number, place> taken_;
  std::map<ip_address, size_t> per_address_;
  // Strangers, oldest first.
  std::map<ip_address, age_order> strangers_by_address_;
  std::map<ip_address, age_order> strangers_by_network_;
  size_t strangers_ = 0;
};

} // namespace weir::net
