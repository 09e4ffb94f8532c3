#pragma once

#include "simnet/faults.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/servers.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <cstddef>
#include <memory>

namespace weir::simnet {

/// A whole simulated AT network: directory, hosts, relay, accounts that change,
/// faults on command, and the true state. It is served on 127.0.0.1 or over any
/// transport.
///
/// The constructor builds all repositories (about 60,000 records in well under
/// a second); `start` opens the ports. Without `start` it is a model to step
/// through: `traffic().make(n)`, `truth()`, `faults().inject(...)`, and the
/// streams as `truth().host_log(i)`.
///
/// # Ownership and threads
/// Owns everything, its io threads included. Call `start` and `stop` from one
/// thread; all other calls are safe from any thread.
class network {
public:
  explicit network(network_options options = {});

  /// Stops the network.
  ~network();

  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Serves over real sockets. Call it only once.
  /// @param io_threads 1 or 2; with two, traffic is made on the second one.
  /// Errors: `unreachable` when a port is in use.
  result<network_urls> start(size_t io_threads = 1);

  /// Serves over another transport. Call it only once, instead of the other
  /// `start`. Between `stop` and the destructor its loops must finish their
  /// work or stop.
  result<network_urls> start(const net::transport_ptr& over,
                             net::event_loop& traffic_loop);

  /// Closes the ports, cuts all connections and ends the traffic.
  void stop();

  /// Shuts a host down for good: its port is closed and its connections are
  /// cut. Call it from the thread of `start`.
  void close_host(size_t host);

  /// Sets the events per second of live traffic, whether or not clients keep
  /// up. It is 0 at first. Call it only after `start`.
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
