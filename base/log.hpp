#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace weir::log {

enum class level : uint8_t { debug, info, warn, error, off };

enum class format : uint8_t { text, json };

/// One `key=value` pair of a log line. Every line uses the same keys: did,
/// host, seq, rev, upstream, id, reason.
struct field {
  field(std::string_view k, std::string_view v) : key(k), value(v) {}

  field(std::string_view k, const char* v) : key(k), value(v) {}

  template <std::integral T>
  field(std::string_view k, T v) : key(k), value(std::to_string(v)) {}

  std::string_view key;
  std::string value;
};

/// Sets the level and format of the process's log, which goes to stderr. Call
/// it once, before other threads start.
void configure(level least, format layout);

bool enabled(level x) noexcept;

/// Writes one line: `event key=value ...`. Values are escaped: bytes from the
/// network never reach a terminal raw. Thread safe.
void write(level x, std::string_view event,
           std::initializer_list<field> fields);

/// Writes to stderr why the process ends: text for people, as it is, at every
/// level. When there is no room for `line_writer::patience`, because nothing
/// reads stderr, the text is dropped, so that the process ends all the same.
/// Thread safe.
/// @param text One or more lines with their line ends.
void write_last_words(std::string_view text);

inline void debug(std::string_view event,
                  std::initializer_list<field> fields = {}) {
  if (enabled(level::debug))
    write(level::debug, event, fields);
}

inline void info(std::string_view event,
                 std::initializer_list<field> fields = {}) {
  if (enabled(level::info))
    write(level::info, event, fields);
}

inline void warn(std::string_view event,
                 std::initializer_list<field> fields = {}) {
  if (enabled(level::warn))
    write(level::warn, event, fields);
}

inline void error(std::string_view event,
                  std::initializer_list<field> fields = {}) {
  if (enabled(level::error))
    write(level::error, event, fields);
}

} // namespace weir::log
