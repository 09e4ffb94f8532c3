#pragma once

#include "actors/api/api.hpp"
#include "actors/api/page_request.hpp"
#include "actors/api/routes.hpp"
#include "actors/support/store_readers.hpp"
#include "wire/json_object.hpp"

#include <string>
#include <string_view>

/// Bodies of the API's answers. Pure functions, except for reads of the store.
namespace weir::actors {

/// `{"error":..,"message":..}` with the status for the code.
net::http_reply problem(const error& x);

/// Appends `x` as a JSON string. Text from outside may be invalid; the string
/// then says so.
void append_text(std::string_view x, std::string& out);

/// 200 with the body that a function of `wire` appends.
/// @param x Its arguments before the text.
template <class Append, class... Args>
net::http_reply written(Append append, const Args&... x) {
  std::string body;
  append(x..., body);
  return net::json_reply(200, body);
}

/// @param fill Adds the members to a `wire::json_object`.
template <class Fill>
net::http_reply object_reply(int status, Fill fill) {
  std::string body;
  {
    wire::json_object out{body};
    fill(out);
  }
  return net::json_reply(status, body);
}

/// `{"<name>":<count>}`.
net::http_reply count_reply(std::string_view name, uint64_t count);

/// The refusal of a request without a route: 404, or 405 when the path exists
/// with another method, or 426 when the path is only for WebSockets. An unknown
/// query parameter gives 400. Nothing when the request may go on.
std::optional<net::http_reply>
refusal_of(const boost::system::result<matched_route, route_miss>& x,
           const net::incoming_request& request);

/// 503: the node is short of something that the request needs.
net::http_reply no_room_reply(const api_environment& env);

/// Answers of the routes that need only memory.
net::http_reply answer_now(action what, const api_environment& env);

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

/// `/info/:did` (Tap) or `/repos/:did` (SYNC-32); 404 when not tracked.
net::http_reply repo_reply(const store_readers& store,
                           const api_environment& env,
                           const atproto::did& did, bool as_info);

/// `/repos` (SYNC-31).
net::http_reply repos_reply(const api_environment& env,
                            const page_request& page);

/// `/repos/errors` (SYNC-34), the next to be tried first. A repo that is tried
/// between two pages may come twice.
net::http_reply errors_reply(const api_environment& env,
                             const page_request& page);

/// `/resolve/:did`: the known identity; 404 for a tombstone or an unknown DID;
/// 429, 502 or 503 when there is no answer.
net::http_reply document_reply(const atproto::did& repo,
                               const result<storage::identity_row>& fact);

} // namespace weir::actors
