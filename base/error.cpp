#include "base/error.hpp"

namespace weir {

const char* to_string(ec code) noexcept {
  switch (code) {
    case ec::none:
      return "none";
    case ec::malformed:
      return "malformed";
    case ec::verification_failed:
      return "verification_failed";
    case ec::chain_broken:
      return "chain_broken";
    case ec::storage_failure:
      return "storage_failure";
    case ec::limit_reached:
      return "limit_reached";
    case ec::not_found:
      return "not_found";
    case ec::unreachable:
      return "unreachable";
    case ec::rate_limited:
      return "rate_limited";
    case ec::account_inactive:
      return "account_inactive";
    case ec::invalid_argument:
      return "invalid_argument";
    case ec::unverifiable:
      return "unverifiable";
    case ec::metadata_changed:
      return "metadata_changed";
    case ec::cancelled:
      return "cancelled";
    case ec::disk_full:
      return "disk_full";
  }
  return "unknown";
}

std::string to_string(const error& what) {
  std::string text = to_string(what.code);
  if (!what.context.empty())
    text += ": " + what.context;
  return text;
}

} // namespace weir
