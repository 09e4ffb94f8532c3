#include "wire/nsid_case.hpp"

#include <algorithm>

namespace weir::wire {

std::optional<std::string> with_small_authority(std::string_view name) {
  std::string out{name};
  const auto dot = out.rfind('.');
  const auto end = dot == std::string::npos
                     ? out.end()
                     : out.begin() + static_cast<ptrdiff_t>(dot);
  std::transform(out.begin(), end, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out == name ? std::nullopt : std::optional{out};
}

} // namespace weir::wire
