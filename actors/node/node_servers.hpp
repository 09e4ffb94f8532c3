#pragma once

#include "actors/api/api.hpp"
#include "actors/node/node_config.hpp"
#include "net/transport.hpp"

#include <memory>
#include <string>

namespace weir::actors {

/// The HTTP side of a node: its API and the two ports.
///
/// # Ownership and threads
/// Owned by NODE. The servers end before the loops that they run on.
struct node_servers {
  /// Starts the API and opens the ports.
  result<void> start(caf::actor_system& system, api_environment env,
                     const node_config& config,
                     const net::transport_ptr& transport, const clock& time);

  std::shared_ptr<access_control> access;
  api faces;
  std::shared_ptr<net::http_server> data;
  std::shared_ptr<net::http_server> operations;
  std::string data_url;
  std::string operations_url;
};

} // namespace weir::actors
