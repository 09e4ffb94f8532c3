#pragma once

#include "net/http_server.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::actors {

enum class port : uint8_t { data, operations };

/// What a route does; `api.cpp` has one function for each.
enum class action : uint8_t {
  health,
  version,
  channel,
  add,
  remove,
  resync,
  list,
  list_errors,
  get_repo,
  get_config,
  resolve,
  info,
  completeness,
  summary,
  repo_count,
  record_count,
  outbox_buffer,
  resync_buffer,
  cursors,
  metrics,
  live,
  ready,
  status,
};

/// One row of the route table; a pattern with `/:did` in it has a parameter.
struct route {
  port on = port::data;
  std::string_view method;
  std::string_view pattern;
  action what = action::health;
  bool upgrade = false;
  size_t body_max = 0;
};

/// All routes there are. Tests and documents read this table.
std::span<const route> all_routes();

struct matched_route {
  const route* to = nullptr;
  std::string parameter; ///< The DID, as in the path.
};

/// The route of a request. `not_found`: no such path; `method`: the path
/// exists with another method.
struct route_miss {
  bool method = false;
};

boost::system::result<matched_route, route_miss>
find_route(port on, std::string_view method, std::string_view path,
           bool upgrade);

} // namespace weir::actors
