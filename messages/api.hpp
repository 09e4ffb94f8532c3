#pragma once

#include "atproto/identifiers.hpp"

#include <memory>

namespace weir {

/// One request that passed all checks. It is answered in the API actor, which
/// may ask other actors.
///
/// From: the HTTP server's bridge. To: API. Travels: local only.
struct api_call {
  std::shared_ptr<void> request; ///< An `actors::api_request`.
};

/// The store has no identity for this request, or an old one, so it must be
/// looked up. From: READER. To: API. Travels: local only.
struct api_lookup {
  std::shared_ptr<void> request; ///< An `actors::api_request`.
  atproto::did repo;
};

} // namespace weir
