#include "base/log.hpp"

#include "base/limits.hpp"
#include "base/log_writer.hpp"
#include "base/printable.hpp"

// The library has `base_sink` for other locks only, so the template is needed.
#include <spdlog/sinks/base_sink-inl.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <unistd.h>

namespace weir::log {

namespace {

std::atomic<level> least_level{level::warn};
std::atomic<format> layout_now{format::text};

/// Escapes `text` as a JSON string. This also keeps a terminal from obeying
/// control characters that a remote host sent.
void append_escaped(std::string& out, std::string_view text) {
  text = text.substr(0, limits::log_value_bytes_max);
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of("\"\\"), text.size());
    append_printable(out, text.substr(0, end));
    if (end == text.size())
      return;
    out += {'\\', text[end]};
    text.remove_prefix(end + 1);
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

std::string render(std::string_view event,
                   std::initializer_list<field> fields) {
  return layout_now == format::json ? render_json(event, fields)
                                    : render_text(event, fields);
}

/// Writes log lines to stderr in the format that was configured.
/// The lock is a timed one, so that even a thread that hangs while it writes a
/// line does not keep the process from its end.
class stderr_sink final : public spdlog::sinks::base_sink<std::timed_mutex> {
public:
  void write_last(std::string_view text) {
    const std::unique_lock lock{mutex_, line_writer::patience};
    if (lock.owns_lock())
      writer_.write_last(text);
  }

private:
  void sink_it_(const spdlog::details::log_msg& x) override {
    writer_.write(format(x));
  }

  void flush_() override {
    // Lines are written at once, so there is nothing to flush.
  }

  std::string format(const spdlog::details::log_msg& x) {
    spdlog::memory_buf_t out;
    formatter_->format(x, out);
    return {out.data(), out.size()};
  }

  std::string say_lost(uint64_t lines) {
    const auto said = render("log_lines_lost", {{"lines", lines}});
    return format({spdlog::string_view_t{}, spdlog::level::warn,
                   spdlog::string_view_t{said.data(), said.size()}});
  }

  line_writer writer_{STDERR_FILENO, [this](uint64_t lines) {
                        return say_lost(lines);
                      }};
};

const std::shared_ptr<stderr_sink>& output() {
  static const auto instance = std::make_shared<stderr_sink>();
  return instance;
}

spdlog::logger& sink() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("weir", output());
    made->set_level(spdlog::level::trace);
    return made;
  }();
  return *instance;
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
    sink().set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})",
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
  const auto line = render(event, fields);
  sink().log(to_spdlog(x), spdlog::string_view_t{line.data(), line.size()});
}

void write_last_words(std::string_view text) {
  output()->write_last(text);
}

} // namespace weir::log
