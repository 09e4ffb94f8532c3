#pragma once

#include "actors/api/limits.hpp"
#include "base/error.hpp"
#include "net/ip_address.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

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

    /// From 1; never given to another channel of the node.
    uint64_t number() const noexcept { return number_; }

  private:
    std::shared_ptr<channel_places> all_;
    net::ip_address peer_;
    uint64_t number_;
  };

  using place_ptr = std::shared_ptr<place>;

  /// Errors: `rate_limited` (this address has its maximum), `limit_reached`
  /// (all places are taken).
  result<place_ptr> take(const net::ip_address& peer);

private:
  void give_back(const net::ip_address& peer);

  size_t all_max_;
  size_t of_one_max_;
  std::mutex mutex_;
  std::map<net::ip_address, size_t> taken_;
  size_t all_ = 0;
  uint64_t last_ = 0; ///< Number of the newest place.
};

} // namespace weir::actors
