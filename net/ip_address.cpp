#include "net/ip_address.hpp"

#include "base/parse_number.hpp"

#include <algorithm>
#include <arpa/inet.h>

namespace weir::net {

bool ip_address::is_loopback() const noexcept {
  if (!v6)
    return octets[0] == 127;
  return octets[15] == 1
         && std::all_of(octets.begin(), octets.end() - 1, [](uint8_t x) {
              return x == 0;
            });
}

result<ip_address> ip_address::parse(std::string_view text) {
  std::string copy{text};
  ip_address x;
  x.v6 = copy.find(':') != std::string::npos;
  // A NUL inside would end the text early for inet_pton.
  if (copy.find('\0') == std::string::npos
      && inet_pton(x.v6 ? AF_INET6 : AF_INET, copy.c_str(), x.octets.data())
           == 1)
    return x;
  return fail(ec::malformed, "not an IP address");
}

std::string to_string(const ip_address& x) {
  char text[INET6_ADDRSTRLEN] = {};
  inet_ntop(x.v6 ? AF_INET6 : AF_INET, x.octets.data(), text, sizeof(text));
  return text;
}

result<endpoint> endpoint::parse(std::string_view text) {
  auto colon = text.rfind(':');
  if (colon == std::string_view::npos)
    return fail(ec::malformed, "no port: expected ADDRESS:PORT");
  auto host = text.substr(0, colon);
  auto digits = text.substr(colon + 1);
  auto bracketed
    = host.size() >= 2 && host.front() == '[' && host.back() == ']';
  if (bracketed)
    host = host.substr(1, host.size() - 2);
  endpoint x;
  const auto port = parse_number<uint16_t>(digits);
  if (!port)
    return fail(ec::malformed, "not a port: expected a number below 65536");
  x.port = *port;
  auto address = ip_address::parse(host);
  if (!address)
    return address.error();
  if (address->v6 != bracketed)
    return fail(ec::malformed, "IPv6 addresses stand in brackets: [::1]:2480");
  x.address = *address;
  return x;
}

std::string to_string(const endpoint& x) {
  auto host = to_string(x.address);
  if (x.address.v6)
    host = '[' + host + ']';
  return host + ':' + std::to_string(x.port);
}

} // namespace weir::net
