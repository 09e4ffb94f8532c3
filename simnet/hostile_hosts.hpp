#pragma once

#include "net/http_server.hpp"
#include "simnet/world.hpp"

#include <atomic>
#include <memory>
#include <vector>

namespace weir::simnet {

/// The word in flags and in the control interface, such as `slow`.
const char* to_string(hostility x) noexcept;

/// Implements what hostile hosts do, and counts how often they did it.
///
/// # Ownership and threads
/// Borrows the world. All calls are safe from any thread.
class hostile_hosts {
public:
  /// How often a host did harm.
  struct counts {
    std::atomic<uint64_t> downloads{0};
    std::atomic<uint64_t> bytes{0};  ///< Bytes of unneeded blocks.
    std::atomic<uint64_t> claims{0}; ///< Accounts that never existed.
    std::atomic<uint64_t> pages{0};  ///< Pages of an endless listing.
    std::atomic<uint64_t> frames{0}; ///< Frames of an endless stream.
  };

  explicit hostile_hosts(world& where);

  size_t size() const noexcept { return counts_.size(); }

  /// Number of the first hostile host among all hosts.
  size_t first() const noexcept { return first_; }

  /// Nothing for an honest host.
  std::optional<hostility> kind(size_t host) const noexcept {
    if (host < first_)
      return std::nullopt;
    return world_.options().hostile[host - first_].kind;
  }

  /// @pre `host` is hostile
  const counts& of(size_t host) const { return *counts_[host - first_]; }

  /// A page of this host's endless listing, if it has one, with ten times as
  /// many lines as were asked for. An inventive host lists accounts that never
  /// existed after its real ones; a circular one lists its own accounts again
  /// and again.
  std::optional<net::http_reply> list(size_t host,
                                      const net::incoming_request& request);

  /// Changes a successful download in the way of this host.
  void spoil(size_t host, net::http_reply& reply);

private:
  size_t first_account(size_t host) const;
  net::http_reply invent(size_t host, size_t from);
  net::http_reply turn_in_circles(size_t host, size_t page);
  void flood(size_t host);

  world& world_;
  const size_t first_;
  std::vector<std::unique_ptr<counts>> counts_;
};

} // namespace weir::simnet
