#pragma once

#include "net/http_server.hpp"

#include <optional>
#include <string>
#include <string_view>

/// Whether a browser asks for the node itself or for a page of somebody else
/// (hostile-inputs.md 2.2.4).
namespace weir::actors {

std::string lower_case(std::string_view x);

/// Host of `name`, `name:port`, `[v6]` or `[v6]:port`, in lower case and without
/// the dot that a full name may end with; nothing when it is none of these. The
/// port may be empty (RFC 3986, 3.2.3).
std::optional<std::string> host_of(std::string_view authority);

/// True when a browser says that it asks for a page of another origin: by
/// Origin, which is http or https and names the host that is asked, by
/// Sec-Fetch-Site, or by Referer. Clients that are no browsers send none of
/// them.
bool comes_from_elsewhere(const net::incoming_request& x,
                          std::string_view host);

} // namespace weir::actors
