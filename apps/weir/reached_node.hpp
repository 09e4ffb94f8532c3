#pragma once

#include "apps/weir/web_client.hpp"
#include "base/error.hpp"

#include <memory>
#include <string>

namespace weir::apps {

/// One of the two addresses of a running node.
struct node_port {
  const char* name;    ///< "data" or "operations".
  const char* address; ///< By default.
};

constexpr node_port data_port{"data", "http://127.0.0.1:2480"};
constexpr node_port operations_port{"operations", "http://127.0.0.1:2481"};

/// A running node, and a client for it that has the password if there is one.
struct reached_node {
  std::string origin;
  std::unique_ptr<web_client> client;
};

/// @param address What the operator says: an origin. A path after it is
/// refused.
/// @param password_file Empty: there is no password.
result<reached_node> reach_node(const std::string& address,
                                const node_port& port,
                                const std::string& password_file);

/// The body of an answer with the status 200; otherwise an error that says what
/// the node said, and what helps.
result<std::string> body_of(const result<net::http_response>& x,
                            const node_port& port);

} // namespace weir::apps
