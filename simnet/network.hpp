#pragma once

#include "simnet/faults.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/servers.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <cstddef>
#include <memory>

namespace weir::simnet {

/// A whole simulated AT network: directory, hosts, relay, accounts that live,
/// faults on command, and the truth. Served on 127.0.0.1, or over any
/// transport.
///
/// Making one builds all repositories (about 60,000 records in well under a
/// second); `start` opens the ports. Without `start` it is a model to step
/// through: `traffic().make(n)`, `truth()`, `faults().inject(...)`, and the
/// streams as `truth().host_log(i)`.
///
/// # Ownership and threads
/// Owns everything, its io threads included. `start` and `stop` from one
/// thread; all else from any thread.
class network {
public:
  explicit network(network_options options = {});

  /// Stops.
  ~network();

  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Serves over real sockets. Once only.
  /// @param io_threads 1 or 2; with two, traffic is made on the second one.
  /// Errors: `unreachable` (a port is in use).
  result<network_urls> start(size_t io_threads = 1);

  /// Serves over another transport. Once only, instead of the other `start`.
  /// Between `stop` and the end of this object its loops run dry, or stop.
  result<network_urls> start(const net::transport_ptr& over,
                             net::event_loop& traffic_loop);

  /// Closes the ports, cuts all connections, ends traffic.
  void stop();

  /// This host is gone for good: its port is closed, its connections are cut.
  /// From the thread of `start`.
  void close_host(size_t host);

  /// Events per second of live traffic, open loop; 0 at first. Only after
  /// `start`.
  void set_rate(double events_per_second);

  world& truth() noexcept;
  simnet::traffic& traffic() noexcept;
  simnet::faults& faults() noexcept;
  request_faults& requests() noexcept;
  const hostile_hosts& hostile() const noexcept;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::simnet
