#include "net/http_server.hpp"
#include "net/url.hpp"

#include <algorithm>

namespace weir::net {

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

} // namespace weir::net
