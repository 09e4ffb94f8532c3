#include "base/log.hpp"

#include "base/limits.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <cstdio>

namespace weir::log {

namespace {

std::atomic<level> least_level{level::warn};
std::atomic<format> layout_now{format::text};

spdlog::logger& sink() {
  static const auto instance = [] {
    auto made = spdlog::stderr_logger_mt("weir");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return *instance;
}

/// JSON string escapes; also what keeps control bytes off the terminal.
void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text.substr(0, limits::log_value_bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      std::array<char, 8> buf{};
      std::snprintf(buf.data(), buf.size(), "\\u%04x", byte);
      out += buf.data();
    } else {
      out += c;
    }
  }
}

bool plain(std::string_view text) noexcept {
  return !text.empty()
         && text.find_first_of(" \"=\\") == std::string_view::npos;
}

std::string render_text(std::string_view event,
                        std::initializer_list<field> fields) {
  std::string out{event};
  for (const auto& x : fields) {
    out += ' ';
    out += x.key;
    out += '=';
    const bool quote = !plain(x.value);
    if (quote)
      out += '"';
    append_escaped(out, x.value);
    if (quote)
      out += '"';
  }
  return out;
}

std::string render_json(std::string_view event,
                        std::initializer_list<field> fields) {
  std::string out = "\"event\":\"";
  append_escaped(out, event);
  out += '"';
  for (const auto& x : fields) {
    out += ",\"";
    out += x.key;
    out += "\":\"";
    append_escaped(out, x.value);
    out += '"';
  }
  return out;
}

spdlog::level::level_enum to_spdlog(level x) noexcept {
  switch (x) {
    case level::debug:
      return spdlog::level::debug;
    case level::info:
      return spdlog::level::info;
    case level::warn:
      return spdlog::level::warn;
    default:
      return spdlog::level::err;
  }
}

} // namespace

void configure(level least, format layout) {
  least_level = least;
  layout_now = layout;
  if (layout == format::json)
    sink().set_pattern(
      R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
      spdlog::pattern_time_type::utc);
  else
    sink().set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-5l %v",
                       spdlog::pattern_time_type::utc);
}

bool enabled(level x) noexcept {
  return x >= least_level.load(std::memory_order_relaxed);
}

void write(level x, std::string_view event,
           std::initializer_list<field> fields) {
  const auto line = layout_now == format::json ? render_json(event, fields)
                                               : render_text(event, fields);
  sink().log(to_spdlog(x), spdlog::string_view_t{line.data(), line.size()});
}

} // namespace weir::log
