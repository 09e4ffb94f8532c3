#pragma once

#include "simnet/faults.hpp"
#include "simnet/hostile_hosts.hpp"
#include "simnet/servers.hpp"
#include "simnet/traffic.hpp"
#include "simnet/world.hpp"

#include <cstddef>

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
/// thread; all other calls are safe from any thread. Its destruction stops it.
class network {
public:
  explicit network(const network_options& options = {});

  network(const network&) = delete;
  network& operator=(const network&) = delete;

  /// Serves over real sockets. Call it only once.
  /// @param io_threads 1 or 2; with two, traffic is made on the second one.
  /// Errors: `unreachable` when a port is in use.
  result<network_urls> start(size_t io_threads = 1) {
    return servers_.start(io_threads);
  }

  /// Serves over another transport. Call it only once, instead of the other
  /// `start`. Between `stop` and the destructor its loops must finish their
  /// work or stop.
  result<network_urls> start(const net::transport_ptr& over,
                             net::event_loop& traffic_loop) {
    return servers_.start(over, traffic_loop);
  }

  /// Closes the ports, cuts all connections and ends the traffic.
  void stop() { servers_.stop(); }

  /// Shuts a host down for good: its port is closed and its connections are
  /// cut. Call it from the thread of `start`.
  void close_host(size_t host) { servers_.close_host(host); }

  /// Sets the events per second of live traffic, whether or not clients keep
  /// up. It is 0 at first. Call it only after `start`.
  void set_rate(double per_second) { servers_.set_rate(per_second); }

  world& truth() noexcept { return world_; }
  simnet::traffic& traffic() noexcept { return traffic_; }
  simnet::faults& faults() noexcept { return faults_; }
  request_faults& requests() noexcept { return requests_; }
  const hostile_hosts& hostile() const noexcept { return hostile_; }

private:
  world world_;
  simnet::traffic traffic_;
  hostile_hosts hostile_;
  request_faults requests_;
  simnet::faults faults_;
  servers servers_;
};

} // namespace weir::simnet
