#pragma once

#include "apps/weir/web_client.hpp"
#include "atproto/identifiers.hpp"

#include <string>

namespace weir::apps {

/// The signing key, as multikey text, that the document of a DID has now; empty
/// when it has none that is usable.
/// @param directory Origin of the directory of did:plc.
result<std::string> look_up_key(web_client& web, const atproto::did& repo,
                                const std::string& directory);

/// Whether the directory, or the host of a did:web, says that there is no such
/// identity any more.
/// @param directory Origin of the directory of did:plc.
result<bool> has_tombstone(web_client& web, const atproto::did& repo,
                           const std::string& directory);

} // namespace weir::apps
