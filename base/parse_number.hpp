#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace weir {

/// Reads the whole text as a number. Nothing when it is something else, or does
/// not fit into `T`.
template <class T>
std::optional<T> parse_number(std::string_view x) noexcept {
  T out{};
  const auto [end, bad] = std::from_chars(x.data(), x.data() + x.size(), out);
  return bad == std::errc{} && end == x.data() + x.size() ? std::optional{out}
                                                          : std::nullopt;
}

} // namespace weir
