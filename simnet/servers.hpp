#pragma once

#include "net/http_server.hpp"
#include "net/transport.hpp"
#include "simnet/options.hpp"
#include "simnet/pacer.hpp"
#include "simnet/site.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace weir::simnet {

/// The addresses of a network: origins such as `http://127.0.0.1:PORT`.
struct network_urls {
  std::string plc; ///< It also resolves handles.
  std::vector<std::string> hosts;
  std::string relay; ///< Empty without a relay.
  std::string control;
};

/// The servers of one network: directory, hosts, relay and control; and the
/// pace of its live traffic.
///
/// # Ownership and threads
/// Borrows what is served, and owns the threads of real sockets. Call `start`
/// and `stop` from one thread that is no loop.
class servers {
public:
  /// Makes the service at the control address, which may change the pace.
  /// Called once, by `start`.
  using control_maker = std::function<std::shared_ptr<net::http_service>(
    const std::shared_ptr<pacer>&)>;

  /// @param work Makes live events, on the traffic loop until `stop`.
  /// @param control Its service answers on the loops of the transport until
  /// `stop`. What both borrow outlives the object. Over another transport, work
  /// that its loops have begun may end after `stop`.
  /// @param hostile Null when all hosts are honest.
  servers(truth& facts, request_faults& faults, const network_options& options,
          pacer::worker work, control_maker control,
          hostile_hosts* hostile = nullptr);

  /// Does the same as `stop`.
  ~servers();

  servers(const servers&) = delete;
  servers& operator=(const servers&) = delete;

  /// Opens the ports on real sockets: `options.port` and those after it, or
  /// free ones. Traffic is made on the last thread.
  result<network_urls> start(size_t io_threads);

  /// The same over another transport.
  /// @param traffic_loop Traffic is made, and streams are sent, on it.
  result<network_urls> start(const net::transport_ptr& network,
                             net::event_loop& traffic_loop);

  /// Closes the ports, cuts all connections and ends the traffic.
  void stop();

  /// Closes one host for good in this way. Call it from the thread of `start`.
  void close_host(size_t host);

  /// Sets the events per second. Call it only after `start`.
  void set_rate(double events_per_second) {
    pacer_->set_rate(events_per_second);
  }

private:
  result<std::string> open(const net::transport_ptr& network,
                           std::shared_ptr<net::http_service> service,
                           const std::string& name);

  const network_options options_;
  uint16_t next_port_;
  const pacer::worker work_;
  const control_maker make_control_;
  // What the loops use is destroyed before the threads of the loops.
  std::unique_ptr<net::io_threads> threads_;
  site site_;
  std::shared_ptr<pacer> pacer_;
  std::vector<std::shared_ptr<net::http_server>> open_;
};

} // namespace weir::simnet
