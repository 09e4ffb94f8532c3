#pragma once

#include "atproto/identifiers.hpp"

#include <memory>

namespace weir::actors {
struct api_request;
} // namespace weir::actors

namespace weir {

/// One request that passed all checks. It is answered in the API actor, which
/// may ask other actors. From: the HTTP server's bridge. To: API.
struct api_call {
  std::shared_ptr<actors::api_request> request;
};

/// The store has no identity for this request, or an old one, so it must be
/// looked up. From: READER. To: API.
struct api_lookup {
  std::shared_ptr<actors::api_request> request;
  atproto::did repo;
};

} // namespace weir
