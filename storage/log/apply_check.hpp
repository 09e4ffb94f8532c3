#pragma once

#include "storage/log/apply_request.hpp"

#include <optional>

/// The rules by which every operation store judges a transaction before it
/// writes it.
namespace weir::storage {

/// The answer to an `apply` that writes nothing.
apply_receipt refusal(apply_outcome outcome, std::string reason);

/// Why the staged operations can never be written as this request asks; nothing
/// when they can: indices that do not follow each other, an operation that is
/// staged twice, content that is not what its CID or its scope says.
std::optional<apply_receipt>
refusal_of_staged(const apply_request& request,
                  const std::vector<indexed_operation>& staged);

/// The digest of an operation; its op_id is this as a multihash.
atproto::digest digest_of(const apply_request& request,
                          const indexed_operation& x);

} // namespace weir::storage
