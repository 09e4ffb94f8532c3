#pragma once

#include "net/ip_address.hpp"
#include "net/limits.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>

namespace weir::net {

/// The network of an address: the /24 of IPv4, also when it is written as IPv6,
/// and the /64 of IPv6, which is the least that one customer has.
ip_address network_of(const ip_address& x) noexcept;

/// Decides which clients get a connection. A client is a stranger until one of
/// its requests is accepted that not everybody may make, so until it has shown
/// the password. Strangers may have only a part of all places, and those of one
/// network or address only a part of that. A stranger who comes when such a
/// part is used up takes the place of an older stranger, so that a client that
/// knows the password always gets far enough to send it. Known clients never
/// lose their places. Does no I/O.
///
/// # Threads
/// A value for one thread.
class connection_places {
public:
  struct bounds {
    size_t all_max = limits::http_server_connections_max;
    size_t strangers_max = limits::http_server_strangers_max;
    size_t per_network_max = limits::http_server_per_network_max;
    /// Counts known clients, too.
    size_t per_address_max = limits::http_server_per_address_max;
  };

  using number = uint64_t;

  struct admission {
    std::optional<number> place;  ///< Unset: the client is refused.
    std::optional<number> victim; ///< It lost its place to the new client.
  };

  explicit connection_places(const bounds& x) : bounds_(x) {}

  admission admit(const ip_address& peer);

  /// This client may make requests that not everybody may make: it is no
  /// stranger any more.
  void set_known(number x);

  /// Does nothing for a victim.
  void give_back(number x);

  size_t taken() const noexcept { return taken_.size(); }

private:
  struct place {
    ip_address peer;
    bool known = false;
  };

  using age_order = std::set<number>;

  const age_order* fullest() const;
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
