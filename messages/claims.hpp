#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "messages/interfaces.hpp"

#include <cstdint>

namespace weir {

/// The stream of a PDS names a DID that nobody tracks. Answered by
/// `stream_claim_decided`, or for all of a stream by `stream_claims_rest`.
///
/// From: ROUTER. To: SUPERVISOR. Travels: local only.
struct stream_claim {
  uint32_t upstream = 0;
  atproto::did repo;
  bool anew = false; ///< The document may have changed: look it up.
};

/// From: SUPERVISOR. To: ROUTER. Travels: local only.
struct stream_claim_decided {
  enum class outcome : uint8_t {
    confirmed, ///< Its document names the host of that stream.
    failed,    ///< It names another one, or there is none.
    dropped,   ///< Nobody could tell, or there was no room.
  };
  uint32_t upstream = 0;
  atproto::did repo;
  outcome what = outcome::dropped;
  bool anew = false; ///< The document was looked up after the claim.
};

/// What this stream claims is mostly not so: all that waits is dropped, and
/// what comes until then.
///
/// From: SUPERVISOR. To: ROUTER. Travels: local only.
struct stream_claims_rest {
  uint32_t upstream = 0;
  steady_time until{};
};

} // namespace weir

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_claim)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_claim_decided)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(weir::stream_claims_rest)
