#pragma once

#include "base/clock.hpp"
#include "simnet/fault_kind.hpp"
#include "simnet/truth.hpp"

#include <algorithm>
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

/// The misbehaviour that was ordered and is not used up.
///
/// # Threads
/// All calls are safe from any thread.
class request_faults {
public:
  struct order {
    fault_kind what = fault_kind::slow_repo;
    /// It hits only this host, or this account; all of them when empty.
    std::optional<size_t> host;
    std::string did;
    /// Number of requests that it hits.
    size_t count = 1;
    /// The delay, or the Retry-After of a limit.
    std::chrono::milliseconds time{0};
    uint64_t bytes_per_second = 0; ///< Set for `trickle_repo`.
    /// The time at which it ends in any case.
    std::optional<steady_time> until;
    /// All accounts as they were, by number (`directory_stale`).
    std::shared_ptr<const std::vector<account_view>> past;
    /// All repositories as they were, by number (`stale_repo`).
    std::shared_ptr<const std::vector<shared_bytes>> repositories;
  };

  /// @param time Outlives this object.
  explicit request_faults(const clock& time) : time_(time) {}

  /// @pre `is_of_requests(x.what)`
  void add(order x) {
    const std::lock_guard lock{guard_};
    if (x.count > 0)
      orders_.push_back(std::move(x));
  }

  /// Finds the first order of kind `what` that fits the request, and uses it
  /// once.
  std::optional<order> take(fault_kind what, size_t host,
                            std::string_view did) {
    const std::lock_guard lock{guard_};
    std::erase_if(orders_, [now = time_.steady_now()](const order& x) {
      return x.until && *x.until <= now;
    });
    const auto at = std::ranges::find_if(orders_, [&](const order& x) {
      return x.what == what && x.host.value_or(host) == host
             && (x.did.empty() || x.did == did);
    });
    if (at == orders_.end())
      return std::nullopt;
    auto out = *at;
    ++served_[static_cast<size_t>(what)];
    if (--at->count == 0)
      orders_.erase(at);
    return out;
  }

  /// Drops all orders of the kinds from `first` to `last`, in the order of
  /// `fault_kind`.
  /// @pre `first <= last`, and both are kinds of requests
  void clear(fault_kind first, fault_kind last) {
    const std::lock_guard lock{guard_};
    std::erase_if(orders_, [=](const order& x) {
      return x.what >= first && x.what <= last;
    });
  }

  /// How many requests were hit so far.
  uint64_t served(fault_kind what) const {
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
  uint64_t served_[fault_kinds]{};
  directory_requests directory_;
};

} // namespace weir::simnet
