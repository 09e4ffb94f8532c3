#pragma once

#include "net/http_server.hpp"
#include "wire/body_members.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace weir::actors {

enum class port : uint8_t { data, operations };

/// What a route does; `api.cpp` has one function for each.
enum class action : uint8_t {
  root,
  health,
  version,
  channel,
  add,
  remove,
  resync,
  list,
  list_errors,
  dead_letters,
  retry_letters,
  drop_letters,
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
  short_status,
};

/// One row of the route table; a pattern with `/:did` in it has a parameter.
struct route {
  port on = port::data;
  std::string_view method;
  std::string_view pattern;
  action what = action::root;
  bool upgrade = false;
  size_t body_max = 0;
  /// Names of all query parameters that it takes; the others are empty.
  std::array<std::string_view, 2> query{};
  /// All members of its JSON body; none where `body_max` is 0.
  std::span<const wire::body_member> body{};
};

/// The first query parameter that the route does not take, in words, with the one
/// that was meant; empty: it takes all of them. What is asked for and ignored would
/// look as if it were done.
std::string unknown_parameter(const route& x,
                              const net::incoming_request& request);

/// All routes there are; docs/api.md has an entry for each of them.
std::span<const route> all_routes();

struct matched_route {
  const route* to = nullptr;
  std::string parameter; ///< The DID, as in the path.
};

/// Why a request has no route: there is no such path, or it exists with another
/// method, or for WebSockets only, or not for them.
struct route_miss {
  std::string_view
    method; ///< The one that the path takes; empty: no such path.
  bool upgrade = false; ///< It is a WebSocket.
  bool plain = false;   ///< It is none, and one is wanted.
};

boost::system::result<matched_route, route_miss>
find_route(port on, std::string_view method, std::string_view path,
           bool upgrade);

} // namespace weir::actors
