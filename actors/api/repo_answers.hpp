#pragma once

#include "actors/api/api.hpp"
#include "actors/api/routes.hpp"
#include "actors/support/store_readers.hpp"

#include <functional>

namespace weir::actors {

/// The answer of a route about one repo, whichever it is. Reads the store, so
/// it is made on a thread of a READER.
/// @param cancelled Asked during long reads; when it says true the answer is
/// 503.
net::http_reply repo_answer(const store_readers& store,
                            const api_environment& env, const matched_route& to,
                            const net::incoming_request& x,
                            const atproto::did& repo,
                            const std::function<bool()>& cancelled);

} // namespace weir::actors
