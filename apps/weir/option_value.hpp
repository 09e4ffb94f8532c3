#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::apps {

/// The kinds of values.
enum class value_kind : uint8_t {
  text,
  boolean,
  number,
  real,
  size,     ///< Bytes; a text may have a unit: `64MiB`.
  duration, ///< Milliseconds; a text needs a unit: `30s`.
  choice,   ///< One of several words.
  list      ///< Several texts.
};

/// The value of an option of any kind. Sizes are bytes, durations are
/// milliseconds, and choices are words.
using option_value
  = std::variant<std::string, bool, int64_t, double, std::vector<std::string>>;

/// Reads the text of a flag or a variable. Lists are separated by commas. A
/// size without a unit is bytes; a duration needs one of ms, s, m, h, d. The
/// `ec::invalid_argument` has no text, since the option itself says what it
/// accepts.
result<option_value> parse_value(value_kind kind, std::string_view text);

/// The form in TOML. `parse_value` reads all of them back except lists.
std::string to_toml(value_kind kind, const option_value& x);

/// Uses the largest unit that fits: `64MiB`, `5m`.
std::string format_size(int64_t bytes);
std::string format_duration(int64_t millis);

/// Formats a TOML basic string.
std::string quoted(std::string_view x);

} // namespace weir::apps
