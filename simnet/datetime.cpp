#include "simnet/datetime.hpp"

namespace weir::simnet {

namespace {

/// Writes `value` into the `digits` digits before `end`.
void put_digits(std::string& out, size_t end, size_t digits, int64_t value) {
  for (; digits > 0; --digits, value /= 10)
    out[--end] = static_cast<char>('0' + value % 10);
}

} // namespace

std::string format_datetime(wall_time x) {
  using namespace std::chrono;
  const sys_time<microseconds> time{microseconds{x.micros}};
  const auto day = floor<days>(time);
  const year_month_day date{day};
  const auto millis = floor<milliseconds>(time - day).count();
  std::string out = "0000-00-00T00:00:00.000Z";
  put_digits(out, 4, 4, static_cast<int>(date.year()));
  put_digits(out, 7, 2, static_cast<unsigned>(date.month()));
  put_digits(out, 10, 2, static_cast<unsigned>(date.day()));
  put_digits(out, 13, 2, millis / 3'600'000);
  put_digits(out, 16, 2, millis / 60'000 % 60);
  put_digits(out, 19, 2, millis / 1'000 % 60);
  put_digits(out, 23, 3, millis % 1'000);
  return out;
}

} // namespace weir::simnet
