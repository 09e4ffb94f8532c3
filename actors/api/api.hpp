#pragma once

#include "actors/api/access.hpp"
#include "actors/api/limits.hpp"
#include "actors/support/context.hpp"
#include "actors/support/limits.hpp"
#include "net/http_server.hpp"
#include "wire/repos_api.hpp"

#include <atomic>
#include <functional>
#include <memory>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// What the routes need to answer.
struct api_environment {
  context_ptr shared;
  std::string consumer_name; ///< In the store.
  metric* waiting = nullptr; ///< Frames held back by REPOs.
  /// Of all look-ups of the node; clients have a share.
  double lookups_per_second = limits::plc_per_second_range.standard;
  wire::sync_mode mode = wire::sync_mode::manual;
  std::vector<std::string> signal_collections;
  std::vector<std::string> collections;
  uint32_t filter_generation = 0; ///< In force.
  std::shared_ptr<std::atomic<bool>> ready;
  /// Bodies of all requests that are not answered; one more byte is a 503.
  size_t request_bytes_max = limits::bulk_body_bytes_max;
};

/// The faces of a node: Tap's wire, the repository API and the operations
/// routes. Formats are in `wire/`, rules in the actors that are asked.
///
/// # Ownership and threads
/// Made by NODE. The services are handed to HTTP servers; the actor does the
/// work.
struct api {
  caf::strong_actor_ptr actor; ///< Keeps it for the shutdown.
  std::shared_ptr<net::http_service> data;
  std::shared_ptr<net::http_service> operations;
  std::function<void()> stop;
};

api make_api(caf::actor_system& system, api_environment env,
             std::shared_ptr<access_control> access);

} // namespace weir::actors
