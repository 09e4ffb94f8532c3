#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"

#include <string>

namespace weir::atproto {

/// What the engine uses of a DID document (protocol-coverage.md 8.3 to 8.6).
struct did_document {
  did id;
  /// The first `at://` entry of alsoKnownAs that is a valid handle, in lower
  /// case; empty when there is none. Only a claim: nobody has checked yet
  /// whether the handle points back to this DID.
  std::string claimed_handle;
  /// The `#atproto` key as Multikey text; empty when none is usable.
  std::string signing_key;
  /// Origin of the `#atproto_pds` service in lower case, without default port
  /// and trailing slash; empty when there is none.
  std::string pds;
};

/// Parses a document and checks its size, depth, counts and `id == expected`.
/// Unusable keys, handles or services leave their field empty. It is an error
/// only when the text is no document, or not the one of this DID. Accepts
/// Multikey and both legacy key forms, with relative and absolute ids.
result<did_document> parse_did_document(std::string_view json,
                                        const did& expected);

} // namespace weir::atproto
