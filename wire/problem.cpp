#include "wire/problem.hpp"

#include "atproto/record_json.hpp"
#include "atproto/utf8.hpp"

namespace weir::wire {

problem_kind kind_of(ec code) noexcept {
  switch (code) {
    case ec::malformed:
    case ec::invalid_argument:
      return {400, "InvalidRequest"};
    case ec::not_found:
      return {404, "NotFound"};
    case ec::limit_reached:
      return {413, "PayloadTooLarge"};
    case ec::rate_limited:
      return {429, "RateLimitExceeded"};
    case ec::disk_full:
    case ec::cancelled:
      return {503, "Unavailable"};
    // Only /resolve waits for another server, and it has error names of its
    // own.
    case ec::none:
    case ec::chain_broken:
    case ec::account_inactive:
    case ec::unreachable:
    case ec::verification_failed:
    case ec::storage_failure:
    case ec::unverifiable:
      break;
  }
  return {500, "InternalServerError"};
}

void append_problem(std::string_view name, std::string_view message,
                    std::string& out) {
  out += R"({"error":)";
  atproto::append_json_string(name, out);
  out += R"(,"message":)";
  if (atproto::valid_utf8(message)) {
    atproto::append_json_string(message, out);
  } else {
    std::string shown{message};
    std::replace_if(
      shown.begin(), shown.end(),
      [](char c) {
        return (c & 0x80) != 0;
      },
      '?');
    atproto::append_json_string(shown, out);
  }
  out += '}';
}

} // namespace weir::wire
