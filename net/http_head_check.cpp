#include "net/http_parser.hpp"
#include "net/limits.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace weir::net {

namespace {

constexpr std::array<std::string_view, 9> single_fields{
  "origin",          "referer", "sec-fetch-site",    "authorization",
  "content-type",    "expect",  "sec-websocket-key", "sec-websocket-version",
  "content-encoding"};

const char* too_many_fields() {
  static const auto out = "more than "
                          + std::to_string(limits::http_request_fields_max)
                          + " header fields: send fewer";
  return out.c_str();
}

bool is_number(std::string_view x) noexcept {
  return !x.empty() && x.size() <= 18
         && std::all_of(x.begin(), x.end(), [](char c) {
              return c >= '0' && c <= '9';
            });
}

bool is_path(std::string_view x) noexcept {
  return x.starts_with('/') && std::all_of(x.begin(), x.end(), [](char c) {
           return c > ' ' && c < 0x7f && c != '#';
         });
}

/// Checks the fields of one head; returns what is wrong, or null.
class field_checker {
public:
  const char* check(const http_header& x) {
    const auto& [name, value] = x;
    if (comes_again(name))
      return "a field comes twice that may come once";
    if (name == "host") {
      ++hosts_;
      if (value.empty() || value.find_first_of(" \t,/@") != value.npos)
        return "Host is malformed";
    } else if (name == "content-length") {
      ++framings_;
      if (!is_number(value))
        return "Content-Length is not a number";
    } else if (name == "transfer-encoding") {
      ++framings_;
      if (!same_text(value, "chunked"))
        return "the only transfer encoding is chunked";
    }
    return nullptr;
  }

  const char* check_all(const http_head& head) const {
    if (hosts_ != 1)
      return "exactly one Host is required";
    if (framings_ > 1)
      return "more than one of Content-Length and Transfer-Encoding";
    if (head.framing == body_framing::chunked && head.http_1_0)
      return "HTTP/1.0 has no Transfer-Encoding";
    return nullptr;
  }

private:
  /// Whether a field that may come once came before: programs differ in which
  /// of two they use.
  bool comes_again(std::string_view name) {
    for (size_t i = 0; i < single_fields.size(); ++i)
      if (name == single_fields[i])
        return std::exchange(seen_[i], true);
    return false;
  }

  std::array<bool, single_fields.size()> seen_{};
  size_t hosts_ = 0;
  size_t framings_ = 0;
};

} // namespace

std::optional<head_refusal> check_request_head(const http_head& head) {
  if (!is_path(head.target))
    return head_refusal{400, "the request target is not a path"};
  if (head.headers.size() > limits::http_request_fields_max)
    return head_refusal{431, too_many_fields()};
  field_checker fields;
  for (const auto& x : head.headers)
    if (const auto* reason = fields.check(x))
      return head_refusal{400, reason};
  if (const auto* reason = fields.check_all(head))
    return head_refusal{400, reason};
  return std::nullopt;
}

} // namespace weir::net
