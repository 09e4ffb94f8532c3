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
/// 12 was another code.
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
  /// A limit was reached, for example of a queue, a body's size, a depth or
  /// retries.
  limit_reached = 5,
  /// The thing asked for does not exist.
  not_found = 6,
  /// The network failed: refused, reset, timed out, cut off. Try again later.
  unreachable = 7,
  /// The other side asks us to slow down. This is not an error of the repo.
  rate_limited = 8,
  /// The account is not active at its host (deactivated, taken down, ...).
  account_inactive = 9,
  /// The input is well formed but not allowed here.
  invalid_argument = 10,
  /// A proof cannot be checked with what was sent: the sender uses a version of
  /// the protocol before sync 1.1, or the check needs a part of the tree that
  /// was left out.
  unverifiable = 11,
  /// The work was cancelled (removed repo, shutdown, newer incarnation).
  cancelled = 13,
  /// No space is left on the device.
  disk_full = 14,
};

/// Name of a code as it stands in logs and metrics. Never null.
const char* to_string(ec code) noexcept;

/// A code and one sentence for people that says what is wrong and where.
struct error {
  ec code = ec::none;
  std::string context;
};

/// Formats the error as `code: context`.
std::string to_string(const error& what);

/// Either a value or an `error`. Used by every layer below `actors/`.
template <class T>
using result = boost::system::result<T, error>;

/// Shorthand for the error arm: `return fail(ec::malformed, "...")`.
inline error fail(ec code, std::string context = {}) {
  return {code, std::move(context)};
}

/// Boost calls this when `value()` is used on an error, which is a bug.
[[noreturn]] inline void
throw_exception_from_error(const error& what, const boost::source_location&) {
  throw std::logic_error(what.context);
}

} // namespace weir
