#include "actors/identity/document_outcome.hpp"

#include "messages/identity.hpp"

namespace weir::actors {

std::pair<look_up_fault, std::string> outcome_of(const identity_document& x) {
  const auto why = x.doc.error();
  if (x.limited)
    return {look_up_fault::limited, to_string(why)};
  switch (why.code) {
    case ec::none:
      break;
    case ec::unreachable:
      return {look_up_fault::unreachable, to_string(why)};
    case ec::not_found:
      if (x.is_foreign)
        return {look_up_fault::foreign,
                to_string(why) + ", in words that no directory uses"};
      return {look_up_fault::unknown, to_string(why)};
    default:
      return {look_up_fault::unusable, to_string(why)};
  }
  if (x.gone)
    return {look_up_fault::unusable, "the DID is tombstoned"};
  if (x.doc->signing_key.empty())
    return {look_up_fault::unusable, "the document has no usable signing key"};
  if (x.doc->pds.empty())
    return {look_up_fault::unusable, "the document names no PDS"};
  return {look_up_fault::none, {}};
}

} // namespace weir::actors
