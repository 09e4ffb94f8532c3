#pragma once

#include "net/http_server.hpp"
#include "net/transport.hpp"
#include "simnet/options.hpp"
#include "simnet/site.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::simnet {

/// Where a network is reached: origins such as `http://127.0.0.1:PORT`.
struct network_urls {
  std::string plc; ///< It also resolves handles.
  std::vector<std::string> hosts;
  std::string relay; ///< Empty without a relay.
  std::string control;
};

/// The servers of one network: directory, hosts, relay and control.
///
/// # Ownership and threads
/// Borrows what is served. Call `start` and `stop` from one thread that is no
/// loop; the servers work on the loops of the transport.
class servers {
public:
  /// @param hostile Null when all hosts are honest.
  servers(truth& facts, request_faults& faults, const network_options& options,
          hostile_hosts* hostile = nullptr);
  ~servers();

  servers(const servers&) = delete;
  servers& operator=(const servers&) = delete;

  /// Opens the ports: `options.port` and those after it, or free ones.
  /// @param time Streams are sent on its loop.
  /// @param control Answers at the control address.
  result<network_urls> start(const net::transport_ptr& network,
                             std::shared_ptr<alarms> time,
                             std::shared_ptr<net::http_service> control);

  /// Closes the ports and cuts all connections.
  void stop();

  /// Closes one host for good in this way. Call it from the thread of `start`.
  void close_host(size_t host);

private:
  result<std::string> open(const net::transport_ptr& network,
                           std::shared_ptr<net::http_service> service,
                           const std::string& name);

  const network_options options_;
  uint16_t next_port_;
  site site_;
  std::vector<std::shared_ptr<net::http_server>> open_;
};

} // namespace weir::simnet
