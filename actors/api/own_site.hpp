#pragma once

#include "net/http_server.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Whether a browser's request comes from the node's own pages or from those of
/// another site (hostile-inputs.md 2.2.4).
namespace weir::actors {

/// The host of `name`, `name:port`, `[v6]` or `[v6]:port`, in lower case and
/// without the dot that may end a full name; nothing when the text is none of
/// these. The port may be empty (RFC 3986, 3.2.3).
std::optional<std::string> host_of(std::string_view authority);

/// True when a browser reports that a page of another origin made the request:
/// by Origin, which must be http or https and name the requested host, by
/// Sec-Fetch-Site, or by Referer. Clients that are not browsers send none of
/// these.
bool comes_from_elsewhere(const net::incoming_request& x,
                          std::string_view host);

} // namespace weir::actors
