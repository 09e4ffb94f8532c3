#pragma once

namespace weir::limits {

constexpr size_t name_bytes_max = 8;
constexpr auto answer_timeout = 3s;
constexpr auto unseen_pause = 1s;
constexpr uint64_t huge_max = 20'000'000;
template <class T>
struct option_range {
  T min;
  T max;
};
constexpr option_range<std::chrono::seconds> pause_range{
  1s, 2s};

} // namespace weir::limits
