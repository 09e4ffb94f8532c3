#pragma once

#include <string>
#include <string_view>

namespace weir {

/// The texts of a range with `separator` between them.
template <class Texts>
std::string joined(const Texts& texts, std::string_view separator = ", ") {
  std::string out;
  for (const auto& x : texts)
    out.append(out.empty() ? "" : separator).append(x);
  return out;
}

} // namespace weir
