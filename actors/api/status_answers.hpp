#pragma once

#include "actors/api/api.hpp"

/// Answers about the state of the node, from memory.
namespace weir::actors {

/// Ready means: the node has started, all but a part of the streams are open,
/// there is room for what they bring, and the work does not fail. A silent host
/// is not the node's fault.
net::http_reply ready_reply(const api_environment& env);

/// The numbers that Tap gives, and those of dead letters that wait for a
/// decision.
net::http_reply outbox_reply(const context& x);

/// `/status`: the whole state.
net::http_reply status_reply(const api_environment& env);

/// `/v1/status`: version and mode of the node, and the range of its log's ids.
net::http_reply short_status_reply(const api_environment& env);

} // namespace weir::actors
