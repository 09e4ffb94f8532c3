#pragma once

#include "messages/repo.hpp"

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

/// The API: the routes that ask actors and readers.
using api_actor = common_actor::extend<caf::reacts_to<api_call>,
                                       caf::reacts_to<api_lookup>,
                                       caf::reacts_to<identity_fact>>;

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::api_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::api_lookup)
