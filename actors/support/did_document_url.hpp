#pragma once

#include "atproto/identifiers.hpp"
#include "net/url.hpp"

#include <string>

namespace weir::actors {

/// The URL of the document of a DID (protocol-coverage.md 8.1): did:plc at the
/// directory, did:web at its own host.
/// @param directory Origin of the directory.
/// @param allow_private Allows did:web on a port of localhost, by plain http.
/// Errors: `ec::invalid_argument` for any other method and for localhost
/// without `allow_private`, `ec::malformed` for a did:web that names no host.
result<net::url> did_document_url(const atproto::did& repo,
                                  const std::string& directory,
                                  bool allow_private);

} // namespace weir::actors
