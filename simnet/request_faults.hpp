#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// How a server misbehaves on a request.
enum class request_fault : uint8_t {
  delay,        ///< getRepo: the answer starts late.
  server_error, ///< getRepo: 500.
  cut,          ///< getRepo: the body ends too early.
  rate_limit,   ///< Any XRPC read of a host: 429 with Retry-After.
  unavailable,  ///< The directory: 503.
};

/// The misbehaviour that is ordered and still due.
///
/// # Threads
/// All calls from any thread.
class request_faults {
public:
  struct order {
    request_fault what = request_fault::delay;
    /// Only this host, or this account; empty: everywhere.
    std::optional<size_t> host;
    std::string did;
    /// Requests it hits, then it is over.
    size_t count = 1;
    /// Of `delay` the wait, of `rate_limit` the Retry-After.
    std::chrono::milliseconds time{0};
  };

  void add(order x);

  /// The first order of kind `what` that fits the request; uses it once.
  std::optional<order> take(request_fault what, size_t host,
                            std::string_view did);

  /// Drops all orders of a kind.
  void clear(request_fault what);

  /// Requests that were hit so far.
  uint64_t served(request_fault what) const;

private:
  static constexpr size_t kinds = 5;

  mutable std::mutex guard_;
  std::vector<order> orders_;
  uint64_t served_[kinds]{};
};

} // namespace weir::simnet
