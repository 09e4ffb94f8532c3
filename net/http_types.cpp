#include "net/http_types.hpp"

#include <algorithm>
#include <cstdint>

namespace weir::net {

namespace {

char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool is_token_char(char c) noexcept {
  if ((c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z'))
    return true;
  return c != '\0'
         && std::string_view{"!#$%&'*+-.^_`|~"}.find(c)
              != std::string_view::npos;
}

} // namespace

bool same_text(std::string_view x, std::string_view y) noexcept {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](char a, char b) {
    return lower(a) == lower(b);
  });
}

bool lists_token(std::string_view list, std::string_view token) noexcept {
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
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token_char);
}

bool is_header_value(std::string_view value) noexcept {
  return std::all_of(value.begin(), value.end(), [](char c) {
    auto byte = static_cast<uint8_t>(c);
    return byte == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 426:
      return "Upgrade Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Unknown";
  }
}

} // namespace weir::net
