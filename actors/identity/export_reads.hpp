#pragma once

#include "actors/support/all_stores.hpp"
#include "messages/identity.hpp"

#include <optional>

/// Work that a READER does for IDENTITY on its own thread.
namespace weir::actors {

/// The stored row of a DID. The exported row counts when there is no other.
/// @param as_of The time, in Unix seconds, at which the export was valid; none:
/// it does not count.
identity_stored stored_of(const all_stores& stores, const atproto::did& repo,
                          std::optional<int64_t> as_of);

/// Decodes the operations of a page.
export_page read_page(export_page x);

} // namespace weir::actors
