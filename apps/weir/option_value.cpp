#include "apps/weir/option_value.hpp"

#include "base/parse_number.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

namespace weir::apps {

namespace {

struct unit {
  std::string_view name;
  int64_t factor;
};

// Larger units first.
constexpr std::array size_units{
  unit{"TiB", int64_t{1} << 40},
  unit{"GiB", int64_t{1} << 30},
  unit{"MiB", int64_t{1} << 20},
  unit{"KiB", int64_t{1} << 10},
  unit{"B", 1},
};

constexpr std::array duration_units{
  unit{"d", 86'400'000}, unit{"h", 3'600'000}, unit{"m", 60'000},
  unit{"s", 1'000},      unit{"ms", 1},
};

std::optional<int64_t> read_with_unit(std::string_view text,
                                      std::span<const unit> units,
                                      int64_t without_unit) {
  const auto digits
    = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto count = parse_number<int64_t>(text.substr(0, digits));
  if (!count)
    return std::nullopt;
  const auto name = text.substr(digits);
  auto factor = name.empty() ? without_unit : 0;
  for (const auto& x : units)
    if (x.name == name)
      factor = x.factor;
  int64_t out = 0;
  if (factor == 0 || __builtin_mul_overflow(*count, factor, &out))
    return std::nullopt;
  return out;
}

std::string format_with_unit(int64_t x, std::span<const unit> units,
                             std::string_view of_zero) {
  for (const auto& each : units)
    if (x != 0 && x % each.factor == 0)
      return std::to_string(x / each.factor) + std::string{each.name};
  return "0" + std::string{of_zero};
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const auto first = text.substr(0, end).find_first_not_of(' ');
    if (first != std::string_view::npos) {
      const auto last = text.substr(0, end).find_last_not_of(' ');
      out.emplace_back(text.substr(first, last + 1 - first));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

template <class T>
result<option_value> checked(const std::optional<T>& x) {
  if (!x)
    return fail(ec::invalid_argument);
  return option_value{*x};
}

std::optional<bool> read_boolean(std::string_view text) {
  if (text == "true")
    return true;
  if (text == "false")
    return false;
  return std::nullopt;
}

std::optional<double> read_real(std::string_view text) {
  const auto out = parse_number<double>(text);
  return out && std::isfinite(*out) ? out : std::nullopt;
}

} // namespace

result<option_value> parse_value(value_kind kind, std::string_view text) {
  switch (kind) {
    case value_kind::boolean:
      return checked(read_boolean(text));
    case value_kind::number:
      return checked(parse_number<int64_t>(text));
    case value_kind::real:
      return checked(read_real(text));
    case value_kind::size:
      return checked(read_with_unit(text, size_units, 1));
    case value_kind::duration:
      return checked(read_with_unit(text, duration_units, 0));
    case value_kind::list:
      return option_value{split(text)};
    default:
      return option_value{std::string{text}};
  }
}

std::string format_size(int64_t bytes) {
  return format_with_unit(bytes, size_units, "B");
}

std::string format_duration(int64_t millis) {
  return format_with_unit(millis, duration_units, "s");
}

std::string quoted(std::string_view x) {
  std::string out = "\"";
  for (const char c : x) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> buf{};
      std::snprintf(buf.data(), buf.size(), "\\u%04X", byte);
      out += buf.data();
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string to_toml(value_kind kind, const option_value& x) {
  if (const auto* text = std::get_if<std::string>(&x))
    return quoted(*text);
  if (const auto* truth = std::get_if<bool>(&x))
    return *truth ? "true" : "false";
  if (const auto* real = std::get_if<double>(&x)) {
    std::array<char, 32> buf{};
    const auto end = std::to_chars(buf.begin(), buf.end(), *real).ptr;
    return {buf.begin(), end};
  }
  if (const auto* number = std::get_if<int64_t>(&x)) {
    if (kind == value_kind::size)
      return quoted(format_size(*number));
    if (kind == value_kind::duration)
      return quoted(format_duration(*number));
    return std::to_string(*number);
  }
  std::string out = "[";
  for (const auto& each : std::get<std::vector<std::string>>(x))
    out += (out.size() > 1 ? ", " : "") + quoted(each);
  return out + "]";
}

} // namespace weir::apps
