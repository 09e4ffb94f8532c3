#include "net/retry_hints.hpp"

#include "net/limits.hpp"

#include <algorithm>
#include <charconv>

namespace weir::net {

namespace {

using std::chrono::seconds;

/// A number above this is a point in time (this one is in 2001), not a wait.
constexpr int64_t unix_time_min = 1'000'000'000;

std::optional<int64_t> parse_number(std::string_view x) noexcept {
  int64_t n = 0;
  auto end = x.data() + x.size();
  auto [rest, error] = std::from_chars(x.data(), end, n);
  if (error == std::errc::result_out_of_range && !x.starts_with('-'))
    return INT64_MAX;
  if (error != std::errc{} || rest != end || n < 0)
    return std::nullopt;
  return n;
}

seconds clamp(int64_t n) noexcept {
  return std::clamp(seconds{n}, seconds{0}, limits::retry_wait_max);
}

/// The time until `then` by the clock of the server, since ours may be wrong.
seconds wait_until(int64_t then, const http_headers& headers, wall_time now) {
  const auto date = find_header(headers, "date");
  if (const auto there = date ? parse_http_date(*date) : std::nullopt)
    return clamp(then - *there);
  return std::min<seconds>(clamp(then - now.seconds()),
                           limits::undated_retry_wait_max);
}

} // namespace

std::optional<int64_t> parse_http_date(std::string_view x) noexcept {
  using namespace std::chrono;
  constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (x.size() != 29 || x.substr(3, 2) != ", " || x.substr(25) != " GMT"
      || x[7] != ' ' || x[11] != ' ' || x[16] != ' ' || x[19] != ':'
      || x[22] != ':')
    return std::nullopt;
  auto month_at = months.find(x.substr(8, 3));
  auto day_n = parse_number(x.substr(5, 2));
  auto year_n = parse_number(x.substr(12, 4));
  auto hour_n = parse_number(x.substr(17, 2));
  auto minute_n = parse_number(x.substr(20, 2));
  auto second_n = parse_number(x.substr(23, 2));
  if (month_at == months.npos || month_at % 3 != 0 || !day_n || !year_n
      || !hour_n || !minute_n || !second_n || *hour_n > 23 || *minute_n > 59
      || *second_n > 60)
    return std::nullopt;
  auto date = year{static_cast<int>(*year_n)}
              / static_cast<int>(month_at / 3 + 1) / static_cast<int>(*day_n);
  if (!date.ok())
    return std::nullopt;
  return sys_days{date}.time_since_epoch().count() * 86'400 + *hour_n * 3'600
         + *minute_n * 60 + *second_n;
}

std::optional<seconds> retry_after(const http_headers& headers,
                                   wall_time now) noexcept {
  auto value = find_header(headers, "retry-after");
  if (!value)
    return std::nullopt;
  if (auto n = parse_number(*value))
    return clamp(*n);
  if (auto date = parse_http_date(*value))
    return wait_until(*date, headers, now);
  return std::nullopt;
}

std::optional<seconds> rate_limit_reset(const http_headers& headers,
                                        wall_time now) noexcept {
  auto value = find_header(headers, "ratelimit-reset");
  auto n = value ? parse_number(*value) : std::nullopt;
  if (!n)
    return std::nullopt;
  return *n > unix_time_min ? wait_until(*n, headers, now) : clamp(*n);
}

} // namespace weir::net
