#include "base/error.hpp"

#include <array>

namespace weir {

const char* to_string(ec code) noexcept {
  static constexpr std::array names{"none",
                                    "malformed",
                                    "verification_failed",
                                    "chain_broken",
                                    "storage_failure",
                                    "limit_reached",
                                    "not_found",
                                    "unreachable",
                                    "rate_limited",
                                    "account_inactive",
                                    "invalid_argument",
                                    "unverifiable",
                                    "unknown",
                                    "cancelled",
                                    "disk_full"};
  static_assert(names.size() == static_cast<size_t>(ec::disk_full) + 1);
  const auto i = static_cast<size_t>(code);
  return i < names.size() ? names[i] : "unknown";
}

std::string to_string(const error& what) {
  std::string text = to_string(what.code);
  if (!what.context.empty())
    text += ": " + what.context;
  return text;
}

} // namespace weir
