#pragma once

#include "atproto/identifiers.hpp"

#include <string>
#include <string_view>

namespace weir::actors {

/// The source of all DIDs that a directory answers for.
inline constexpr std::string_view directory_source = "directory";

/// The source that answers the look-up of a DID: `directory_source`, or the
/// domain of a did:web, whose subdomains count as one.
std::string identity_source(const atproto::did& repo);

} // namespace weir::actors
