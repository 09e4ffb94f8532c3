#pragma once

#include "apps/weir/web_client.hpp"
#include "atproto/identifiers.hpp"

#include <string>

namespace weir::apps {

/// The signing key in the present document of a DID, as Multikey text; empty
/// when it has no usable one.
/// @param directory Origin of the directory of did:plc.
result<std::string> look_up_key(web_client& web, const atproto::did& repo,
                                const std::string& directory);

/// True when the directory, or the host of a did:web, says that the identity
/// does not exist any more.
/// @param directory Origin of the directory of did:plc.
result<bool> has_tombstone(web_client& web, const atproto::did& repo,
                           const std::string& directory);

} // namespace weir::apps
