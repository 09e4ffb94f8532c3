#pragma once

#include "actors/api/api.hpp"

/// What the node says of itself, from memory.
namespace weir::actors {

/// Ready: started, the streams are open but for a part, there is room for what
/// they bring, and the work does not fail. A silent host is no fault of ours.
net::http_reply ready_reply(const api_environment& env);

/// As Tap says it, and what waits for a decision beside.
net::http_reply outbox_reply(const context& x);

/// `/status`: all of it.
net::http_reply status_reply(const api_environment& env);

/// `/v1/status`: what it is, and which ids its log has.
net::http_reply short_status_reply(const api_environment& env);

} // namespace weir::actors
