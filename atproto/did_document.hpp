#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"

#include <string>

namespace weir::atproto {

/// What the engine takes from a DID document (protocol-coverage.md 8.3 to 8.6).
struct did_document {
  did id;
  /// First `at://` entry of alsoKnownAs with a valid handle, lower case;
  /// empty when none. A claim, not yet verified in the other direction.
  std::string claimed_handle;
  /// Multikey text of the `#atproto` key; empty when none is usable.
  std::string signing_key;
  /// Origin of the `#atproto_pds` service, lower case, default port removed,
  /// no trailing slash; empty when none.
  std::string pds;
};

/// Parses and checks a document: size, depth, counts, `id == expected`.
/// Unusable keys, handles or services leave their field empty; only a document
/// that is not this DID's, or no document at all, is an error.
/// Accepts Multikey and both legacy key forms (relative and absolute ids).
result<did_document> parse_did_document(std::string_view json,
                                        const did& expected);

} // namespace weir::atproto
