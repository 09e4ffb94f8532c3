#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::net {

/// An IPv4 or IPv6 address, in network byte order. IPv4 uses the first four
/// bytes; the rest are zero. No scope ids.
struct ip_address {
  std::array<uint8_t, 16> octets{};
  bool v6 = false;

  friend auto operator<=>(const ip_address&, const ip_address&) = default;

  /// 127/8 or ::1.
  bool is_loopback() const noexcept;

  /// Accepts what `inet_pton` accepts: four decimal numbers with dots, and IPv6
  /// without brackets. `127.1`, `0x7f.1`, `[::1]` and `fe80::1%eth0` fail.
  static result<ip_address> parse(std::string_view text);

  static ip_address loopback_v4() noexcept { return {{127, 0, 0, 1}, false}; }

  static ip_address loopback_v6() noexcept {
    return {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, true};
  }
};

std::string to_string(const ip_address& x);

/// An address where a socket is bound or connected.
struct endpoint {
  ip_address address;
  uint16_t port = 0;

  friend auto operator<=>(const endpoint&, const endpoint&) = default;

  /// Parses `127.0.0.1:2480` or `[::1]:2480`.
  static result<endpoint> parse(std::string_view text);
};

std::string to_string(const endpoint& x);

} // namespace weir::net
