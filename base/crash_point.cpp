#include "base/crash_point.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <unistd.h>

namespace weir {

std::optional<crash_plan> parse_crash_plan(std::string_view text) {
  const auto colon = text.find(':');
  if (colon == std::string_view::npos)
    return std::nullopt;
  const auto known
    = std::ranges::find(crash_point_names, text.substr(0, colon));
  if (known == crash_point_names.end())
    return std::nullopt;
  crash_plan out;
  out.at = static_cast<crash_point>(known - crash_point_names.begin());
  const auto* last = text.data() + text.size();
  const auto [end, bad]
    = std::from_chars(text.data() + colon + 1, last, out.passage);
  if (bad != std::errc{} || out.passage == 0)
    return std::nullopt;
  if (end == last)
    return out;
  if (*end != ':' || end + 1 == last)
    return std::nullopt;
  out.mark.assign(end + 1, last);
  return out;
}

namespace {

std::optional<crash_plan> read_plan(const char* variable) {
  constexpr int refused = 2;
  const auto* text = std::getenv(variable);
  if (text == nullptr)
    return std::nullopt;
  auto out = parse_crash_plan(text);
  if (!out) {
    std::fprintf(stderr, "weir: %s=%s names no crash point\n", variable, text);
    std::_Exit(refused);
  }
  return out;
}

const std::optional<crash_plan> crash = read_plan("WEIR_CRASH_AT");
const std::optional<crash_plan> failure = read_plan("WEIR_THROW_AT");
std::atomic<uint64_t> passages{0};
std::atomic<uint64_t> failures{0};

bool is_meant(const std::optional<crash_plan>& plan, crash_point x,
              std::string_view mark) {
  return plan && x == plan->at && (plan->mark.empty() || mark == plan->mark);
}

} // namespace

const bool detail::crash_armed = crash.has_value() || failure.has_value();

void detail::pass_armed(crash_point x, std::string_view mark) {
  if (is_meant(failure, x, mark) && failures.fetch_add(1) < failure->passage)
    throw std::runtime_error("as WEIR_THROW_AT says");
  if (!is_meant(crash, x, mark) || passages.fetch_add(1) + 1 != crash->passage)
    return;
  ::kill(::getpid(), SIGKILL);
  for (;;)
    ::pause(); // SIGKILL was sent; wait for it.
}

} // namespace weir
