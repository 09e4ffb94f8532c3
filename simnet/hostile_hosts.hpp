#pragma once

#include "net/http_server.hpp"
#include "simnet/world.hpp"

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// The word used in flags and in the control interface: `slow` etc.
const char* to_string(hostility x) noexcept;

/// What hostile hosts do, as long as the network lives, and how often they did.
///
/// # Ownership and threads
/// Borrows the world. All calls from any thread.
class hostile_hosts {
public:
  /// How often a host harmed somebody.
  struct counts {
    std::atomic<uint64_t> downloads{0};
    std::atomic<uint64_t> bytes{0};  ///< Of blocks that no one needs.
    std::atomic<uint64_t> claims{0}; ///< Accounts that never were.
    std::atomic<uint64_t> pages{0};  ///< Of a listing without end.
    std::atomic<uint64_t> frames{0}; ///< Of a stream without end.
  };

  explicit hostile_hosts(world& where);

  size_t size() const noexcept { return counts_.size(); }

  /// Number of the first one among all hosts.
  size_t first() const noexcept { return first_; }

  /// None: an honest host.
  std::optional<hostility> kind(size_t host) const noexcept;

  /// @pre `host` is hostile
  const counts& of(size_t host) const { return *counts_[host - first_]; }

  /// A page of a listing that never ends, when it is this host's way, ten times
  /// as long as anybody asks for: of accounts that never were, after the true
  /// ones; or of those, over and over.
  std::optional<net::http_reply> list(size_t host,
                                      const net::incoming_request& request);

  /// Makes a download that succeeds as bad as this host's are.
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
