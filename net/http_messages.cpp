#include "net/http_messages.hpp"

#include "net/url.hpp"
#include "net/ws_codec.hpp"

#include <algorithm>

namespace weir::net {

namespace {

/// JSON text of a string, quotes included.
std::string quoted(std::string_view x) {
  constexpr std::string_view digits = "0123456789abcdef";
  auto valid = is_utf8(x);
  std::string out = "\"";
  for (auto c : x) {
    auto byte = static_cast<uint8_t>(c);
    if (c == '"' || c == '\\')
      out += {'\\', c};
    else if (byte < 0x20)
      out += {'\\', 'u', '0', '0', digits[byte >> 4], digits[byte & 15]};
    else
      out += valid || byte < 0x80 ? c : '?';
  }
  return out + '"';
}

} // namespace

const std::string*
incoming_request::parameter(std::string_view name) const noexcept {
  for (auto& [key, value] : query)
    if (key == name)
      return &value;
  return nullptr;
}

bool incoming_request::set_target(std::string_view target) {
  const auto mark = std::min(target.find('?'), target.size());
  auto decoded = percent_decode(target.substr(0, mark));
  if (!decoded)
    return false;
  path = std::move(*decoded);
  auto rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const auto pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(pair.size() + 1, rest.size()));
    if (pair.empty())
      continue;
    const auto equals = std::min(pair.find('='), pair.size());
    auto name = percent_decode(pair.substr(0, equals), true);
    auto value
      = percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value)
      return false;
    query.emplace_back(std::move(*name), std::move(*value));
  }
  return true;
}

http_reply json_reply(int status, std::string_view body) {
  http_reply x;
  x.status = status;
  x.body = shared_bytes::copy_of(as_bytes(body));
  return x;
}

http_reply error_reply(int status, std::string_view name,
                       std::string_view message) {
  return json_reply(status, "{\"error\":" + quoted(name)
                              + ",\"message\":" + quoted(message) + "}");
}

} // namespace weir::net
