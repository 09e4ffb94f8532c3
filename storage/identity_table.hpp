#pragma once

#include "storage/database.hpp"
#include "storage/values.hpp"

#include <span>
#include <vector>

/// Reads the identity cache; the committer writes it. Safe from any thread.
namespace weir::storage {

result<std::optional<identity_row>> load_identity(const database& db,
                                                  const atproto::did& repo);

/// In the order of `repos`.
result<std::vector<std::optional<identity_row>>>
load_identities(const database& db, std::span<const atproto::did> repos);

/// Whose verified handle this is. @param handle Lower case.
result<std::optional<atproto::did>> load_handle(const database& db,
                                                const std::string& handle);

} // namespace weir::storage
