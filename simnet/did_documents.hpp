#pragma once

#include "simnet/site.hpp"

#include <string>

/// What the directory says of an account.
namespace weir::simnet {

/// The DID document, as JSON: Multikey, or with `legacy_documents` the form
/// that older servers still send (protocol.md 7).
std::string make_did_document(const account_view& x, const site& where);

/// One line of the directory's export, without signature and CID: nobody can
/// check those of an account whose host has no name before it starts.
std::string make_export_line(const account_view& x, const site& where,
                             const std::string& created_at);

} // namespace weir::simnet
