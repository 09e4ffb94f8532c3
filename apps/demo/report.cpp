#include "apps/demo/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace weir::apps {

void demo_report::line(std::string_view what, std::string_view sentence) const {
  std::printf("[%5.1fs] %-10.*s %.*s\n", seconds(),
              static_cast<int>(what.size()), what.data(),
              static_cast<int>(sentence.size()), sentence.data());
  std::fflush(stdout);
}

std::string grouped(uint64_t x) {
  auto out = std::to_string(x);
  for (auto i = static_cast<ptrdiff_t>(out.size()) - 3; i > 0; i -= 3)
    out.insert(static_cast<size_t>(i), 1, ',');
  return out;
}

std::string readable(std::chrono::microseconds x) {
  std::array<char, 32> out{};
  const auto millis = static_cast<double>(x.count()) / 1e3;
  if (millis < 1e3)
    std::snprintf(out.data(), out.size(), "%.1f ms", millis);
  else
    std::snprintf(out.data(), out.size(), "%.1f s", millis / 1e3);
  return out.data();
}

std::chrono::microseconds
percentile(std::span<const std::chrono::microseconds> sorted, double share) {
  if (sorted.empty())
    return {};
  const auto rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[std::clamp<size_t>(static_cast<size_t>(rank), 1, sorted.size())
                - 1];
}

std::string listed(const std::map<std::string, uint64_t>& counts) {
  std::string out;
  for (const auto& [what, count] : counts)
    if (count > 0)
      out += (out.empty() ? "" : ", ") + what + " " + grouped(count);
  return out;
}

} // namespace weir::apps
