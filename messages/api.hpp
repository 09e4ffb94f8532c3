#pragma once

#include "messages/interfaces.hpp"

#include <functional>

namespace weir {

/// One request that passed all checks; `run` answers it. Runs in the API actor,
/// so that it may ask other actors.
///
/// From: the HTTP server's bridge. To: API. Travels: local only.
struct api_call {
  std::shared_ptr<void> request; ///< `actors::api_request`.
};

/// A READER's answer for a waiting request. From: READER. To: API.
struct api_answer {
  std::function<void()> run;
};

/// The API: routes that ask actors and readers.
using api_actor = common_actor::extend<caf::reacts_to<api_call>,
                                       caf::reacts_to<api_answer>>;

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::api_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::api_answer)
