#pragma once

#include <boost/system/result.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace weir {

/// What a caller can react to. Add a code only when some caller would take a
/// different branch for it; everything else is detail in `error::context`.
/// Values are written to disk and sent between nodes: append, never renumber.
enum class ec : uint8_t {
  none = 0,
  /// Bytes from outside do not parse. The sender is at fault.
  malformed = 1,
  /// A signature, hash or tree proof does not hold. Never append.
  verification_failed = 2,
  /// A commit does not follow the stored state. Resync the repo.
  chain_broken = 3,
  /// The store refused a read or write. The node must stop accepting work.
  storage_failure = 4,
  /// A bound was reached (queue, body size, depth, retries).
  limit_reached = 5,
  /// The thing asked for does not exist.
  not_found = 6,
  /// The network failed: refused, reset, timed out, cut off. Try again later.
  unreachable = 7,
  /// The other side asks us to slow down; not an error of the repo.
  rate_limited = 8,
  /// The account is not active at its host (deactivated, taken down, ...).
  account_inactive = 9,
  /// The input is well formed and still not allowed here.
  invalid_argument = 10,
  /// A proof cannot be checked with what was sent (pre-1.1 sender, stub hit).
  unverifiable = 11,
  /// Stored metadata changed under the caller; recompute and try again.
  metadata_changed = 12,
  /// The work was cancelled (removed repo, shutdown, newer incarnation).
  cancelled = 13,
  /// No space is left on the device.
  disk_full = 14,
};

/// Name of a code as it stands in logs and metrics. Never null.
const char* to_string(ec code) noexcept;

/// An `ec` plus one sentence for people: what is wrong and where.
struct error {
  ec code = ec::none;
  std::string context;
};

/// `code: context`.
std::string to_string(const error& what);

/// Either a value or an `error`. Used by every layer below `actors/`.
template <class T>
using result = boost::system::result<T, error>;

/// Shorthand for the error arm: `return fail(ec::malformed, "...")`.
inline error fail(ec code, std::string context = {}) {
  return {code, std::move(context)};
}

/// Called by Boost when `value()` is used on an error: a programming mistake.
[[noreturn]] inline void
throw_exception_from_error(const error& what, const boost::source_location&) {
  throw std::logic_error(what.context);
}

} // namespace weir
