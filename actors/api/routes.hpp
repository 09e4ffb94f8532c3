#pragma once

#include "net/http_messages.hpp"
#include "wire/body_members.hpp"

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  operations,
  stream_operations,
  one_operation,
  records,
  one_record,
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
  backup,
};

/// One row of the route table. A part of the pattern that begins with a colon,
/// such as `:did`, is a parameter and fits any text.
struct route {
  port on = port::data;
  std::string_view method;
  std::string_view pattern;
  action what = action::root;
  /// Names of all query parameters that the route takes.
  std::span<const std::string_view> query{};
  size_t body_max = 0;
  /// All members of its JSON body; none when `body_max` is 0.
  std::span<const wire::body_member> body{};
  bool upgrade = false;
};

/// A sentence about the first query parameter that the route does not take,
/// with the one that was probably meant; empty when it takes all. A parameter
/// that was silently ignored would look as if it had worked.
std::string unknown_parameter(const route& x,
                              const net::incoming_request& request);

/// All routes; docs/api.md has an entry for each.
std::span<const route> all_routes();

struct matched_route {
  const route* to = nullptr;
  /// Values of the pattern's parameters by their names without the colon.
  std::vector<std::pair<std::string_view, std::string>> parameters;

  /// A parameter of the path, such as "did"; empty when the pattern has none of
  /// this name.
  const std::string& parameter(std::string_view name) const noexcept;
};

/// Why a request has no route: the path does not exist, or it exists with
/// another method, or only for WebSockets, or not for WebSockets.
struct route_miss {
  std::string_view method; ///< Method that the path takes; empty: no such path.
  bool upgrade = false; ///< The request is a WebSocket, and the path is not.
  bool plain = false; ///< The request is not a WebSocket, and the path is.
};

boost::system::result<matched_route, route_miss>
find_route(port on, std::string_view method, std::string_view path,
           bool upgrade);

} // namespace weir::actors
