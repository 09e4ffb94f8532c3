#include "actors/node/network.hpp"

#include "actors/node/limits.hpp"
#include "base/version.hpp"

namespace weir::actors {

result<network> make_network(const node_config& config, const clock& time,
                             net::transport_ptr transport,
                             net::tls_client_ptr tls) {
  network out;
  out.transport = std::move(transport);
  if (!out.transport) {
    out.threads = std::make_unique<net::io_threads>();
    out.transport = net::make_system_transport(*out.threads);
  }
  out.tls = std::move(tls);
  if (!out.tls) {
    auto made = net::tls_client::make({config.ca_file});
    if (!made)
      return made.error();
    out.tls = std::move(*made);
  }
  net::http_client_options options;
  options.tls = out.tls;
  options.user_agent = std::string{"weir/"} + version();
  options.time = &time;
  options.guard = net::address_guard{config.allow_private_addresses};
  out.guarded = net::make_http_client(out.transport, options);
  options.guard = net::address_guard{true};
  options.foreign_redirects = false;
  options.connections_per_origin_max = limits::directory_connections_max;
  out.configured = net::make_http_client(out.transport, options);
  return out;
}

} // namespace weir::actors
