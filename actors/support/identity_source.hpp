#pragma once

#include "atproto/identifiers.hpp"

#include <string>
#include <string_view>

namespace weir::actors {

/// Of all DIDs that a directory answers for.
inline constexpr std::string_view directory_source = "directory";

/// Who answers the look-up of a DID: `directory_source`, or the domain of a
/// did:web, whose subdomains count as one.
std::string identity_source(const atproto::did& repo);

} // namespace weir::actors
