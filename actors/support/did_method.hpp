#pragma once

#include "atproto/identifiers.hpp"

namespace weir::actors {

/// True for a method whose documents lie where the DID's owner says, not the
/// operator: to be fetched under the address guard. The host of each did:web
/// name is its own, because such a name has no path (`atproto::supported_did`).
inline bool document_is_foreign(const atproto::did& repo) noexcept {
  return repo.str().starts_with("did:web:");
}

} // namespace weir::actors
