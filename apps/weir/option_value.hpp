#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace weir::apps {

/// What the value of an option is.
enum class value_kind : uint8_t {
  text,
  boolean,
  number,
  real,
  size,     ///< Bytes; with a unit in text: `64MiB`.
  duration, ///< Milliseconds; with a unit in text: `30s`.
  choice,   ///< One of some words.
  list      ///< Texts.
};

/// The value of an option, whatever it means: sizes are bytes, durations
/// milliseconds, choices words.
using option_value
  = std::variant<std::string, bool, int64_t, double, std::vector<std::string>>;

/// Reads the text of a flag or a variable. Lists are separated by commas; a
/// size without a unit is bytes, a duration needs one of ms, s, m, h, d.
/// `ec::invalid_argument` without a sentence: the option knows what it wants.
result<option_value> parse_value(value_kind kind, std::string_view text);

/// As it stands in TOML; `parse_value` reads everything but lists back.
std::string to_toml(value_kind kind, const option_value& x);

/// The largest unit that fits: `64MiB`, `5m`.
std::string format_size(int64_t bytes);
std::string format_duration(int64_t millis);

/// A TOML basic string.
std::string quoted(std::string_view x);

} // namespace weir::apps
