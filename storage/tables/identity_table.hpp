#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/values.hpp"

#include <span>
#include <vector>

/// Reads the identity cache; the committer writes it. Safe from any thread.
namespace weir::storage {

result<std::optional<identity_row>> load_identity(const database& db,
                                                  const atproto::did& repo);

/// In the order of `repos`.
result<std::vector<std::optional<identity_row>>>
load_identities(const database& db, std::span<const atproto::did> repos);

/// What the directory's export says of it.
result<std::optional<identity_row>> load_exported(const database& db,
                                                  const atproto::did& repo);

/// The first DIDs of which the export says something, at most so many.
result<std::vector<atproto::did>> list_exported(const database& db,
                                                size_t limit);

/// How far the export was read; empty row: not at all.
result<export_row> load_export_place(const database& db);

/// Whose verified handle this is. @param handle Lower case.
result<std::optional<atproto::did>> load_handle(const database& db,
                                                const std::string& handle);

} // namespace weir::storage
