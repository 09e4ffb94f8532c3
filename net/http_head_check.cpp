#include "net/http_parser.hpp"
#include "net/limits.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace weir::net {

namespace {

constexpr std::array<std::string_view, 9> single_fields{
  "origin",           "referer", "sec-fetch-site",    "authorization",
  "content-type",     "expect",  "sec-websocket-key", "sec-websocket-version",
  "content-encoding"};

const char* head_too_long() {
  static const auto out
    = "the head of the request is longer than "
      + std::to_string(limits::http_request_head_bytes_max)
      + " bytes: send fewer or shorter header fields";
  return out.c_str();
}

const char* too_many_fields() {
  static const auto out = "more than "
                          + std::to_string(limits::http_request_fields_max)
                          + " header fields: send fewer";
  return out.c_str();
}

/// Walks the lines of one request head.
class head_checker {
public:
  explicit head_checker(std::string_view data) : data_(data) {
    // nop
  }

  head_verdict run() {
    for (size_t from = 0;;) {
      auto end = data_.find('\n', from);
      if (end == std::string_view::npos)
        return incomplete(data_.substr(from));
      if (end + 1 > limits::http_request_head_bytes_max)
        return refuse(431, head_too_long());
      if (end == from || data_[end - 1] != '\r')
        return refuse(400, "a line does not end with CRLF");
      auto line = data_.substr(from, end - 1 - from);
      from = end + 1;
      if (auto reason = check_line(line))
        return refuse(status_, reason);
      if (line.empty())
        return complete(from);
    }
  }

private:
  static head_verdict refuse(int status, const char* reason) {
    return {head_verdict::kind::refused, 0, status, reason};
  }

  head_verdict incomplete(std::string_view last_line) const {
    if (data_.size() >= limits::http_request_head_bytes_max)
      return refuse(431, head_too_long());
    if (!last_line.empty() && last_line.back() == '\r')
      last_line.remove_suffix(1);
    if (!is_header_value(last_line))
      return refuse(400, "the request head holds a control byte");
    return {};
  }

  head_verdict complete(size_t size) const {
    if (hosts_ != 1)
      return refuse(400, "exactly one Host is required");
    if (lengths_ + encodings_ > 1)
      return refuse(400, "more than one of Content-Length and "
                         "Transfer-Encoding");
    if (encodings_ > 0 && http_1_0_)
      return refuse(400, "HTTP/1.0 has no Transfer-Encoding");
    return {head_verdict::kind::complete, size, 0, ""};
  }

  /// Null when the line is good.
  const char* check_line(std::string_view line) {
    if (!is_header_value(line))
      return "the request head holds a control byte";
    if (lines_++ == 0)
      return check_request_line(line);
    return line.empty() ? nullptr : check_field(line);
  }

  const char* check_request_line(std::string_view line) {
    auto first = line.find(' ');
    auto last = line.rfind(' ');
    if (first == last || !is_token(line.substr(0, first)))
      return "the request line is malformed";
    auto target = line.substr(first + 1, last - first - 1);
    auto version = line.substr(last + 1);
    auto plain = std::all_of(target.begin(), target.end(), [](char c) {
      return c > ' ' && c < 0x7f && c != '#';
    });
    if (!plain || !target.starts_with('/'))
      return "the request target is not a path";
    http_1_0_ = version == "HTTP/1.0";
    if (!http_1_0_ && version != "HTTP/1.1")
      return "only HTTP/1.1 and HTTP/1.0 are spoken";
    return nullptr;
  }

  const char* check_field(std::string_view line) {
    if (lines_ - 1 > limits::http_request_fields_max) {
      status_ = 431;
      return too_many_fields();
    }
    auto colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon)))
      return "a header field is malformed";
    auto name = line.substr(0, colon);
    auto value = line.substr(colon + 1);
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
    value = value.substr(0, value.find_last_not_of(" \t") + 1);
    if (comes_again(name))
      return "a field comes twice that may come once";
    if (same_text(name, "host")) {
      ++hosts_;
      if (value.empty() || value.find_first_of(" \t,/@") != value.npos)
        return "Host is malformed";
    } else if (same_text(name, "content-length")) {
      ++lengths_;
      auto digits = std::all_of(value.begin(), value.end(), [](char c) {
        return c >= '0' && c <= '9';
      });
      if (value.empty() || value.size() > 18 || !digits)
        return "Content-Length is not a number";
    } else if (same_text(name, "transfer-encoding")) {
      ++encodings_;
      if (!same_text(value, "chunked"))
        return "the only transfer encoding is chunked";
    }
    return nullptr;
  }

  /// Fields that somebody else could read the other one of.
  bool comes_again(std::string_view name) {
    for (size_t i = 0; i < single_fields.size(); ++i)
      if (same_text(name, single_fields[i]))
        return std::exchange(seen_[i], true);
    return false;
  }

  std::string_view data_;
  std::array<bool, single_fields.size()> seen_{};
  size_t lines_ = 0;
  size_t hosts_ = 0;
  size_t lengths_ = 0;
  size_t encodings_ = 0;
  bool http_1_0_ = false;
  int status_ = 400;
};

} // namespace

head_verdict check_request_head(std::string_view data) {
  return head_checker{data}.run();
}

} // namespace weir::net
