#pragma once

#include "actors/api/limits.hpp"
#include "base/line_budget.hpp"
#include "base/log.hpp"
#include "base/metrics.hpp"
#include "net/ip_address.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace weir::actors {

/// Limits the number of WebSocket channels, in total and for one address
/// (hostile-inputs.md 2.2.7).
///
/// # Threads
/// Any thread.
class channel_places : public std::enable_shared_from_this<channel_places> {
public:
  explicit channel_places(size_t all_max = limits::channels_max,
                          size_t of_one_max = limits::channels_per_address_max)
    : all_max_(all_max), of_one_max_(of_one_max) {}

  /// One place; its destructor gives the place back.
  class place {
  public:
    place(std::shared_ptr<channel_places> all, const net::ip_address& peer,
          uint64_t number)
      : all_(std::move(all)), peer_(peer), number_(number) {}

    ~place() { all_->give_back(peer_); }

    place(const place&) = delete;
    place& operator=(const place&) = delete;

    /// It is at least 1, and no other channel of the node ever gets it.
    uint64_t number() const noexcept { return number_; }

  private:
    std::shared_ptr<channel_places> all_;
    net::ip_address peer_;
    uint64_t number_;
  };

  using place_ptr = std::shared_ptr<place>;

  /// Errors: `rate_limited` (this address has its maximum), `limit_reached`
  /// (all places are taken).
  result<place_ptr> take(const net::ip_address& peer) {
    const std::lock_guard guard{mutex_};
    const auto known = taken_.find(peer);
    if (known != taken_.end() && known->second >= of_one_max_)
      return fail(ec::rate_limited, "this address has as many channels as one "
                                    "address may have");
    if (all_ >= all_max_)
      return fail(ec::limit_reached, "all channels of this node are in use");
    ++taken_[peer];
    ++all_;
    return std::make_shared<place>(shared_from_this(), peer, ++last_);
  }

private:
  void give_back(const net::ip_address& peer) {
    const std::lock_guard guard{mutex_};
    --all_;
    const auto known = taken_.find(peer);
    if (--known->second == 0)
      taken_.erase(known);
  }

  size_t all_max_;
  size_t of_one_max_;
  std::mutex mutex_;
  std::map<net::ip_address, size_t> taken_;
  size_t all_ = 0;
  uint64_t last_ = 0; ///< Number of the newest place.
};

/// Counts refused WebSocket channels and names their addresses in the log, at
/// most `limits::channel_lines_max` in `limits::channel_lines_interval`,
/// because an application whose connection is cut reconnects at once.
///
/// # Ownership and threads
/// Borrows the metric. Any thread.
class channel_refusals {
public:
  explicit channel_refusals(metric& counted) : counted_(counted) {}

  void tell(const net::ip_address& peer, const std::string& reason,
            steady_time now) {
    counted_.add();
    const auto verdict = [&] {
      const std::lock_guard guard{mutex_};
      return lines_.take(now);
    }();
    if (verdict == line_budget::verdict::line)
      log::info("channel_refused",
                {{"peer", net::to_string(peer)}, {"reason", reason}});
    else if (verdict == line_budget::verdict::last)
      log::info("channels_refused_unnamed",
                {{"hint", "more channels are refused than are named here: "
                          "weir_channels_refused_total counts all of them"}});
  }

private:
  metric& counted_;
  std::mutex mutex_;
  line_budget lines_{limits::channel_lines_max, limits::channel_lines_interval};
};

} // namespace weir::actors
