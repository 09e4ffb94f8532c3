#pragma once

#include "simnet/site.hpp"

#include <boost/json/object.hpp>

#include <string>

/// What the directory says of an account.
namespace weir::simnet {

/// The DID document, as JSON: Multikey, or with `legacy_documents` the form
/// that older servers still send (protocol-coverage.md 7).
std::string make_did_document(const account_view& x, const site& where);

/// An operation of the directory's log, as JSON: what makes the account's
/// document what it is now; or a tombstone. Without a signature: nobody can
/// check one of an account whose host has no name before it starts.
/// @param before CID of the account's operation before; empty: its first one.
boost::json::object make_operation(const account_view& x, const site& where,
                                   const std::string& before);

} // namespace weir::simnet
