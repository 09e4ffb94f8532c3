#pragma once

#include "atproto/identifiers.hpp"

namespace weir::actors {

/// True for a method whose documents are at an address that the DID's owner
/// chooses, not the operator: they must be fetched under the address guard.
/// Each did:web name has a host of its own, because such a name has no path
/// (`atproto::supported_did`).
inline bool document_is_foreign(const atproto::did& repo) noexcept {
  return repo.str().starts_with("did:web:");
}

} // namespace weir::actors
