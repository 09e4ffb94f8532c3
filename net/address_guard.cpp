#include "net/address_guard.hpp"

#include "net/http_types.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace weir::net {

namespace {

/// An address block: the first `bits` of `prefix`.
struct block {
  std::array<uint8_t, 16> prefix;
  unsigned bits;
};

bool contains(const block& x, std::span<const uint8_t> octets) noexcept {
  for (unsigned i = 0; i < x.bits; ++i) {
    auto mask = static_cast<uint8_t>(0x80u >> (i % 8));
    if ((x.prefix[i / 8] & mask) != (octets[i / 8] & mask))
      return false;
  }
  return true;
}

bool any_contains(std::span<const block> xs,
                  std::span<const uint8_t> octets) noexcept {
  return std::any_of(xs.begin(), xs.end(), [octets](const block& x) {
    return contains(x, octets);
  });
}

constexpr block private_v4[] = {
  {{0}, 8},             // this network
  {{10}, 8},            // private
  {{100, 64}, 10},      // carrier-grade NAT
  {{127}, 8},           // loopback
  {{169, 254}, 16},     // link local, cloud metadata
  {{172, 16}, 12},      // private
  {{192, 0, 0}, 24},    // protocol assignments
  {{192, 0, 2}, 24},    // documentation
  {{192, 88, 99}, 24},  // 6to4 relays
  {{192, 168}, 16},     // private
  {{198, 18}, 15},      // benchmarking
  {{198, 51, 100}, 24}, // documentation
  {{203, 0, 113}, 24},  // documentation
  {{224}, 4},           // multicast
  {{240}, 4},           // reserved, broadcast
};

constexpr block global_unicast_v6 = {{0x20}, 3};

constexpr block private_v6[] = {
  {{0x20, 0x01, 0x00}, 23},       // protocol assignments, Teredo
  {{0x20, 0x01, 0x0d, 0xb8}, 32}, // documentation
  {{0x20, 0x02}, 16},             // 6to4
  {{0x3f, 0xff, 0x00}, 20},       // documentation
};

/// IPv4 addresses written as IPv6: ::ffff/96 and the NAT64 prefix.
constexpr block wrapped_v4[] = {
  {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96},
  {{0x00, 0x64, 0xff, 0x9b}, 96},
};

/// Blocks whose addresses never belong to one machine.
constexpr block not_unicast_v4[] = {{{0}, 8}, {{224}, 4}, {{240}, 4}};
constexpr block not_unicast_v6[] = {{{0}, 128}, {{0xff}, 8}};

constexpr std::string_view reserved_last_labels[] = {
  "alt",   "arpa",      "example", "internal", "invalid",
  "local", "localhost", "onion",   "test",
};

/// Returns the IPv4 address inside, or `x` itself.
ip_address unwrapped(const ip_address& x) noexcept {
  if (!x.v6 || !any_contains(wrapped_v4, x.octets))
    return x;
  ip_address inner;
  std::copy_n(x.octets.begin() + 12, 4, inner.octets.begin());
  return inner;
}

bool is_unicast(const ip_address& wrapped) noexcept {
  auto x = unwrapped(wrapped);
  return x.v6 ? !any_contains(not_unicast_v6, x.octets)
              : !any_contains(not_unicast_v4, x.octets);
}

bool is_letter_or_digit(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
         || (c >= '0' && c <= '9');
}

bool is_label(std::string_view x) noexcept {
  return !x.empty() && x.size() <= 63 && x.front() != '-' && x.back() != '-'
         && std::all_of(x.begin(), x.end(), [](char c) {
              return is_letter_or_digit(c) || c == '-';
            });
}

struct host_labels {
  size_t count = 0;
  std::string_view last;
};

/// Returns nothing when `host` is not a host name.
std::optional<host_labels> labels_of(std::string_view host) noexcept {
  if (host.size() > 253)
    return std::nullopt;
  host_labels out;
  for (size_t from = 0; from <= host.size(); ++out.count) {
    auto dot = std::min(host.find('.', from), host.size());
    out.last = host.substr(from, dot - from);
    if (!is_label(out.last))
      return std::nullopt;
    from = dot + 1;
  }
  // A last label that starts with a digit is a number: 127.1, 0x7f.0.0.1.
  if (out.last.front() >= '0' && out.last.front() <= '9')
    return std::nullopt;
  return out;
}

} // namespace

bool is_public(const ip_address& wrapped) noexcept {
  auto x = unwrapped(wrapped);
  if (!x.v6)
    return !any_contains(private_v4, x.octets);
  return contains(global_unicast_v6, x.octets)
         && !any_contains(private_v6, x.octets);
}

bool is_public_host_name(std::string_view host) noexcept {
  const auto labels = labels_of(host);
  if (!labels || labels->count < 2)
    return false;
  return std::ranges::find(reserved_last_labels, lower_case(labels->last))
         == std::end(reserved_last_labels);
}

bool is_host(std::string_view host) {
  return labels_of(host) || ip_address::parse(host);
}

result<void> address_guard::check_url(const url& x) const {
  if (allow_private_)
    return {};
  if (!x.secure())
    return fail(ec::invalid_argument,
                "only https and wss are allowed: " + x.origin());
  if (x.port != x.default_port())
    return fail(ec::invalid_argument,
                "only port 443 is allowed: " + x.origin());
  if (!is_public_host_name(x.host))
    return fail(ec::invalid_argument,
                "not the name of a public host: " + x.host);
  return {};
}

result<void> address_guard::check_address(const ip_address& x) const {
  if (allow_private_ ? is_unicast(x) : is_public(x))
    return {};
  return fail(ec::invalid_argument, "address is not allowed: " + to_string(x));
}

} // namespace weir::net
