#include "net/http_types.hpp"

#include <boost/beast/core/string.hpp>

#include <algorithm>
#include <cstdint>

namespace weir::net {

bool same_text(std::string_view x, std::string_view y) noexcept {
  return boost::beast::iequals(x, y);
}

std::string lower_case(std::string_view x) {
  std::string out{x};
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool lists_token(std::string_view list, std::string_view token) noexcept {
  // Beast's parser of such lists takes `websocket/13` for `websocket`.
  while (!list.empty()) {
    auto comma = std::min(list.find(','), list.size());
    auto item = list.substr(0, comma);
    auto first = std::min(item.find_first_not_of(" \t"), item.size());
    item.remove_prefix(first);
    item = item.substr(0, item.find_last_not_of(" \t") + 1);
    if (same_text(item, token))
      return true;
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return false;
}

const std::string* find_header(const http_headers& headers,
                               std::string_view name) noexcept {
  for (auto& x : headers)
    if (same_text(x.name, name))
      return &x.value;
  return nullptr;
}

bool is_token(std::string_view name) noexcept {
  static constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    const auto letter = (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
    return letter || (c >= '0' && c <= '9') || signs.find(c) != signs.npos;
  });
}

bool is_header_value(std::string_view value) noexcept {
  return std::all_of(value.begin(), value.end(), [](char c) {
    auto byte = static_cast<uint8_t>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

} // namespace weir::net
