#include "actors/api/own_site.hpp"

#include "base/parse_number.hpp"

#include <algorithm>

namespace weir::actors {

namespace {

bool is_port(std::string_view x) {
  const auto number = parse_number<uint16_t>(x);
  return number && *number > 0;
}

/// The text after `http://<host>` or `https://<host>`, if the URL begins so.
std::optional<std::string> behind_origin(std::string_view url,
                                         std::string_view host) {
  const auto text = net::lower_case(url);
  for (const std::string_view scheme : {"http://", "https://"}) {
    const auto own = std::string{scheme} + net::lower_case(host);
    if (text.starts_with(own))
      return text.substr(own.size());
  }
  return std::nullopt;
}

} // namespace

std::optional<std::string> host_of(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos)
    return std::nullopt;
  const auto end = std::min(authority.find(':', bracket), authority.size());
  const auto rest = authority.substr(end);
  if (end == 0 || (bracket > 0 && end != bracket + 1)
      || (rest.size() > 1 && !is_port(rest.substr(1))))
    return std::nullopt;
  auto out = net::lower_case(authority.substr(0, end));
  if (out.size() > 1 && out.ends_with('.'))
    out.pop_back();
  return out;
}

bool comes_from_elsewhere(const net::incoming_request& x,
                          std::string_view host) {
  if (const auto* origin = x.header("origin"); origin != nullptr)
    if (const auto rest = behind_origin(*origin, host); !rest || !rest->empty())
      return true;
  if (const auto* site = x.header("sec-fetch-site"); site != nullptr)
    if (*site != "same-origin" && *site != "none")
      return true;
  if (const auto* page = x.header("referer"); page != nullptr) {
    const auto rest = behind_origin(*page, host);
    return !rest || (!rest->empty() && rest->front() != '/');
  }
  return false;
}

} // namespace weir::actors
