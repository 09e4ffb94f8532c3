#pragma once

#include "base/error.hpp"
#include "net/ip_address.hpp"
#include "net/url.hpp"

#include <string_view>

namespace weir::net {

/// Decides where this process may connect: a did:web, a PDS endpoint, a handle
/// or a redirect must not lead into the operator's own network
/// (hostile-inputs.md 2.1.24).
///
/// A URL is checked before its name is resolved, every address before it is
/// dialled, and the connected address again: names may change their answer.
/// With `allow_private` (the option --allow-private-addresses) plain http, all
/// ports, localhost, single-label names, address literals and all unicast
/// addresses are allowed. Use it for development and simulated networks only.
///
/// # Threads
/// A value; safe to copy and to read from any thread.
class address_guard {
public:
  address_guard() = default;

  explicit address_guard(bool allow_private) noexcept
    : allow_private_(allow_private) {}

  bool allow_private() const noexcept { return allow_private_; }

  /// Checks scheme, port and host name. Error: `ec::invalid_argument`.
  result<void> check_url(const url& x) const;

  /// Checks one address. Error: `ec::invalid_argument`.
  result<void> check_address(const ip_address& x) const;

private:
  bool allow_private_ = false;
};

/// Whether an address is globally reachable unicast, by the rules of
/// hostile-inputs.md 2.1.24. IPv4 inside ::ffff/96 and 64:ff9b::/96 is
/// unwrapped.
bool is_public(const ip_address& x) noexcept;

/// Whether `host` is a name as public servers have it: two or more labels of
/// letters, digits and inner hyphens, no reserved last label, no address.
bool is_public_host_name(std::string_view host) noexcept;

/// Whether `host` is written as a host name, public or not, or is an address:
/// `localhost` and `10.0.0.1` are, `a..b`, `-a.b`, `a_b.c` and `1.2.3` are not.
bool is_host(std::string_view host);

} // namespace weir::net
