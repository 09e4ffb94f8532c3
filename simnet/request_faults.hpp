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
  trickle,      ///< getRepo: the body comes at a limited rate.
  endless,      ///< getRepo: unneeded blocks follow without end.
  server_error, ///< getRepo: status 500.
  cut,          ///< getRepo: the body ends too early.
  stale_repo,   ///< getRepo: the repository as it was when this was ordered.
  missing,      ///< getRepo, getRepoStatus, getLatestCommit: RepoNotFound.
  unlisted,     ///< listRepos: the account is left out.
  false_status, ///< getRepoStatus: the opposite of the truth.
  rate_limit,   ///< Any com.atproto.sync read: status 429, Retry-After.
  host_down,    ///< Any XRPC call of a host, streams too: status 503.
  host_hang,    ///< Any XRPC call of a host, streams too: no answer.
  // Requests to the directory.
  unavailable,        ///< Status 503.
  directory_limit,    ///< Status 429 with Retry-After.
  directory_delay,    ///< The answer starts late.
  directory_hang,     ///< No answer comes.
  directory_cut,      ///< The connection ends without an answer.
  wrong_document,     ///< The document of another account.
  stale_document,     ///< The document as it was when this was ordered.
  forgotten_document, ///< Status 404, like for an unknown DID.
  gone_document,      ///< Status 410, like for a DID with a tombstone.
};

constexpr size_t request_fault_kinds
  = static_cast<size_t>(request_fault::gone_document) + 1;

/// The misbehaviour that was ordered and is not used up.
///
/// # Threads
/// All calls are safe from any thread.
class request_faults {
public:
  struct order {
    request_fault what = request_fault::delay;
    /// Only this host, or this account. Everywhere when empty.
    std::optional<size_t> host;
    std::string did;
    /// Number of requests that it hits.
    size_t count = 1;
    /// The delay, or the Retry-After of a limit.
    std::chrono::milliseconds time{0};
    uint64_t bytes_per_second = 0; ///< For `trickle`.
    /// The time at which it ends in any case.
    std::optional<steady_time> until;
    /// For `stale_document`: all accounts as they were, by number.
    std::shared_ptr<const std::vector<account_view>> past;
    /// For `stale_repo`: all repositories as they were, by number.
    std::shared_ptr<const std::vector<shared_bytes>> repositories;
  };

  /// @param time Outlives this object.
  explicit request_faults(const clock& time) : time_(time) {}

  void add(order x) {
    const std::lock_guard lock{guard_};
    if (x.count > 0)
      orders_.push_back(std::move(x));
  }

  /// Finds the first order of kind `what` that fits the request, and uses it
  /// once.
  std::optional<order> take(request_fault what, size_t host,
                            std::string_view did);

  /// Drops all orders of the kinds from `first` to `last`.
  void clear(request_fault first, request_fault last) {
    const std::lock_guard lock{guard_};
    std::erase_if(orders_, [=](const order& x) {
      return x.what >= first && x.what <= last;
    });
  }

  /// How many requests were hit so far.
  uint64_t served(request_fault what) const {
    const std::lock_guard lock{guard_};
    return served_[static_cast<size_t>(what)];
  }

  /// How many requests the directory had so far, hit or not.
  struct directory_requests {
    uint64_t documents = 0;
    uint64_t export_pages = 0;
  };

  /// Counts a request for a document, or for a page of the export.
  void note_document() {
    const std::lock_guard lock{guard_};
    ++directory_.documents;
  }
  void note_export_page() {
    const std::lock_guard lock{guard_};
    ++directory_.export_pages;
  }

  directory_requests directory() const {
    const std::lock_guard lock{guard_};
    return directory_;
  }

private:
  const clock& time_;
  mutable std::mutex guard_;
  std::vector<order> orders_;
  uint64_t served_[request_fault_kinds]{};
  directory_requests directory_;
};

} // namespace weir::simnet
