#include "wire/log_position.hpp"

#include "base/parse_number.hpp"

#include <algorithm>

namespace weir::wire {

namespace {

constexpr size_t identity_digits = 16;

/// A number in its one form, without a sign or zeros in front.
std::optional<uint64_t> parse_plain(std::string_view x) {
  const auto out = parse_number<uint64_t>(x);
  return out && std::to_string(*out) == x ? out : std::nullopt;
}

/// 16 hexadecimal digits, a dot, and a number.
bool is_log_name(std::string_view x) {
  const auto is_digit = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  };
  return x.size() > identity_digits && x[identity_digits] == '.'
         && std::ranges::all_of(x.substr(0, identity_digits), is_digit)
         && parse_plain(x.substr(identity_digits + 1));
}

} // namespace

std::string to_text(const log_position& x) {
  auto out = x.log;
  auto separator = '-';
  for (const auto place : x.places) {
    out += separator;
    out += std::to_string(place);
    separator = '.';
  }
  return out;
}

result<log_position> parse_log_position(std::string_view text) {
  const auto bad = fail(ec::malformed, "this is no cursor of a log");
  const auto dash = text.find('-');
  if (dash == text.npos || !is_log_name(text.substr(0, dash)))
    return bad;
  log_position out{std::string{text.substr(0, dash)}, {}};
  text.remove_prefix(dash);
  while (!text.empty()) {
    text.remove_prefix(1); // The dash, or a dot.
    const auto end = std::min(text.find('.'), text.size());
    const auto place = parse_plain(text.substr(0, end));
    if (!place)
      return bad;
    out.places.push_back(*place);
    text.remove_prefix(end);
  }
  return out;
}

} // namespace weir::wire
