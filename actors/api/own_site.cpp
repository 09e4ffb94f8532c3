#include "actors/api/own_site.hpp"

#include <algorithm>
#include <charconv>

namespace weir::actors {

namespace {

bool is_port(std::string_view x) {
  uint16_t number = 0;
  const auto* end = x.data() + x.size();
  const auto [rest, failed] = std::from_chars(x.data(), end, number);
  return failed == std::errc{} && rest == end && number > 0;
}

/// The text after `http://<host>` or `https://<host>`, if the URL begins so.
std::optional<std::string> behind_origin(std::string_view url,
                                         std::string_view host) {
  const auto text = lower_case(url);
  for (const std::string_view scheme : {"http://", "https://"}) {
    const auto own = std::string{scheme} + lower_case(host);
    if (text.starts_with(own))
      return text.substr(own.size());
  }
  return std::nullopt;
}

} // namespace

std::string lower_case(std::string_view x) {
  std::string out{x};
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

std::optional<std::string> host_of(std::string_view authority) {
  const auto bracket = authority.starts_with('[') ? authority.find(']') : 0;
  if (bracket == std::string_view::npos)
    return std::nullopt;
  const auto end = std::min(authority.find(':', bracket), authority.size());
  const auto rest = authority.substr(end);
  if (end == 0 || (bracket > 0 && end != bracket + 1)
      || (rest.size() > 1 && !is_port(rest.substr(1))))
    return std::nullopt;
  auto out = lower_case(authority.substr(0, end));
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
