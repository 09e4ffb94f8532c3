#pragma once

#include "actors/api/api.hpp"
#include "actors/api/page_request.hpp"
#include "actors/api/routes.hpp"
#include "actors/support/store_readers.hpp"

#include <string>
#include <string_view>

/// Bodies of the API's answers. Pure but for reads of the store.
namespace weir::actors {

struct completeness_judge;

/// `{"error":..,"message":..}` with the status that goes with the code.
net::http_reply problem(const error& x);

/// As a JSON string. What comes from outside may be no text, and then that is
/// said.
void append_text(std::string_view x, std::string& out);

/// `{"<name>":<count>}`.
net::http_reply count_reply(std::string_view name, uint64_t count);

/// What has no route is 404, or 405 when the path exists with another method, or 426
/// when it is there for WebSockets only; a query parameter that the route does not
/// take is 400. Nothing when it may go on.
std::optional<net::http_reply>
refusal_of(const boost::system::result<matched_route, route_miss>& x,
           const net::incoming_request& request);

/// 503: there is too little of something to take the request.
net::http_reply no_room_reply(const api_environment& env);

/// Routes that are answered from memory.
net::http_reply answer_now(action what, const api_environment& env);

/// `/info/:did` (Tap) or `/repos/:did` (SYNC-32); 404 when not tracked.
net::http_reply repo_reply(const store_readers& store,
                           const completeness_judge& by,
                           const atproto::did& did, bool as_info);

/// `/repos` (SYNC-31).
net::http_reply repos_reply(const completeness_judge& by,
                            const page_request& page);

/// `/repos/errors` (SYNC-34), those to be tried next first. One that is tried
/// while somebody turns the pages may come twice.
net::http_reply errors_reply(const completeness_judge& by,
                             const page_request& page);

/// `/resolve/:did`: what is known of an identity; 404 for a tombstone.
net::http_reply document_reply(const atproto::did& repo,
                               const storage::identity_row& row);

/// `/resolve/:did`: 404, or 502 or 503 when nobody can say.
net::http_reply lookup_failed_reply(const atproto::did& repo,
                                    const error& why);

} // namespace weir::actors
