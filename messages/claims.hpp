#pragma once

#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <cstdint>

namespace weir {

/// The stream of a PDS names a DID that is not tracked (ADR 10). The answer is
/// `stream_claim_decided`; `stream_claims_rest` answers all claims of a stream.
/// From: ROUTER. To: SUPERVISOR.
struct stream_claim {
  uint32_t upstream = 0;
  atproto::did repo;
  bool anew = false; ///< Look the document up, since it may have changed.
};

/// The decision on a `stream_claim`. From: SUPERVISOR. To: ROUTER.
struct stream_claim_decided {
  enum class outcome : uint8_t {
    confirmed, ///< Its document names the host of that stream.
    failed,    ///< The document names another host, or there is none.
    dropped,   ///< It could not be decided, or there was no room.
  };
  uint32_t upstream = 0;
  atproto::did repo;
  outcome what = outcome::dropped;
  bool anew = false; ///< The document was looked up after the claim.
};

/// Most claims of this stream were wrong, so all waiting ones are dropped, as
/// are those that come until `until`. From: SUPERVISOR. To: ROUTER.
struct stream_claims_rest {
  uint32_t upstream = 0;
  steady_time until{};
};

} // namespace weir
