#pragma once

#include "actors/support/all_stores.hpp"
#include "messages/identity.hpp"

#include <optional>

/// What a READER does for the IDENTITY, on its own thread.
namespace weir::actors {

/// What is stored of a DID. The export counts where there is nothing else.
/// @param as_of When it was true, in Unix seconds; none: it does not count.
identity_stored stored_of(const all_stores& stores, const atproto::did& repo,
                          std::optional<int64_t> as_of);

/// The operations of a page that came.
export_page read_page(export_page x);

} // namespace weir::actors
