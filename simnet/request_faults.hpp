#pragma once

#include "base/clock.hpp"
#include "simnet/truth.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// How a server misbehaves on a request.
enum class request_fault : uint8_t {
  delay,        ///< getRepo: the answer starts late.
  trickle,      ///< getRepo: the body comes at a rate.
  endless,      ///< getRepo: blocks follow that no one needs, without end.
  server_error, ///< getRepo: 500.
  cut,          ///< getRepo: the body ends too early.
  stale_repo,   ///< getRepo: the repository as it was when this was ordered.
  missing,      ///< getRepo and what tells of one repository: RepoNotFound.
  unlisted,     ///< listRepos: left out.
  false_status, ///< getRepoStatus: the opposite of the truth.
  rate_limit,   ///< Any XRPC read of a host: 429 with Retry-After.
  host_down,    ///< Any XRPC call of a host, a stream too: 503.
  host_hang,    ///< Any XRPC call of a host, a stream too: no answer comes.
  // The directory.
  unavailable,     ///< 503.
  directory_limit, ///< 429 with Retry-After.
  directory_delay, ///< The answer starts late.
  directory_hang,  ///< No answer comes.
  directory_cut,   ///< The connection ends instead of an answer.
  wrong_document,  ///< The document of somebody else.
  stale_document,  ///< The document as it was when this was ordered.
  forgotten_document, ///< 404, as of a DID that was never registered.
  gone_document,      ///< 410, as of a DID with a tombstone.
};

constexpr size_t request_fault_kinds
  = static_cast<size_t>(request_fault::gone_document) + 1;

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
    /// Of delays the wait, of limits the Retry-After.
    std::chrono::milliseconds time{0};
    uint64_t bytes_per_second = 0; ///< Of `trickle`.
    std::optional<steady_time> until; ///< Then it is over, too.
    /// Of `stale_document`: all accounts as they were, by number.
    std::shared_ptr<const std::vector<account_view>> past;
    /// Of `stale_repo`: all repositories as they were, by number.
    std::shared_ptr<const std::vector<shared_bytes>> repositories;
  };

  /// @param time Outlives this.
  explicit request_faults(const clock& time) : time_(time) {
    // nop
  }

  void add(order x);

  /// The first order of kind `what` that fits the request; uses it once.
  std::optional<order> take(request_fault what, size_t host,
                            std::string_view did);

  /// Drops all orders of some kinds.
  void clear(request_fault first, request_fault last);

  /// Requests that were hit so far.
  uint64_t served(request_fault what) const;

  /// What the directory was asked for so far, hit or not.
  struct directory_requests {
    uint64_t documents = 0;
    uint64_t export_pages = 0;
  };

  /// The directory is asked for a document, or for a page of its export.
  void note_document();
  void note_export_page();

  directory_requests directory() const;

private:
  const clock& time_;
  mutable std::mutex guard_;
  std::vector<order> orders_;
  uint64_t served_[request_fault_kinds]{};
  directory_requests directory_;
};

} // namespace weir::simnet
