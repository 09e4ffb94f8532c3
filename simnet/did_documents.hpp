#pragma once

#include "simnet/site.hpp"

#include <boost/json/object.hpp>

#include <string>

/// What the directory says of an account.
namespace weir::simnet {

/// The DID document as JSON: with Multikey, or with `legacy_documents` in the
/// form that older servers still send (protocol-coverage.md 7).
std::string make_did_document(const account_view& x, const site& where);

/// The operation in the directory's log, as JSON, that leads to the account's
/// present document; or a tombstone. It has no signature, since nobody could
/// check it before the account's host has a name.
/// @param before CID of the account's previous operation; empty for the first
/// one.
boost::json::object make_operation(const account_view& x, const site& where,
                                   const std::string& before);

} // namespace weir::simnet
