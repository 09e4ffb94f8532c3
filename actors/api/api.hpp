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

namespace weir::actors {

/// What the routes need for their answers.
struct api_environment {
  context_ptr shared;
  std::string consumer_name; ///< Its name in the store.
  metric* waiting = nullptr; ///< Frames that wait in REPOs.
  /// Look-ups a second of the whole node; clients have a share.
  double lookups_per_second = limits::plc_per_second_range.standard;
  wire::sync_mode mode = wire::sync_mode::manual;
  std::vector<std::string> signal_collections;
  std::vector<std::string> collections;
  uint32_t filter_generation = 0; ///< Generation of the filter in force.
  std::shared_ptr<std::atomic<bool>> ready;
  /// Limit for the bodies of all unanswered requests; one more byte is a 503.
  size_t request_bytes_max = limits::bulk_body_bytes_max;
};

/// The interfaces of a node: Tap's protocol, the repository API and the
/// operations routes. Formats are in `wire/`, rules in the actors that are
/// asked.
///
/// # Ownership and threads
/// Made by NODE. HTTP servers get the services; the actor does the work.
struct api {
  caf::strong_actor_ptr actor; ///< It is kept for the shutdown.
  std::shared_ptr<net::http_service> data;
  std::shared_ptr<net::http_service> operations;
  std::function<void()> stop;
};

api make_api(caf::actor_system& system, api_environment env,
             std::shared_ptr<access_control> access);

} // namespace weir::actors
