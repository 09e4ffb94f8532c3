#pragma once

#include "storage/disk/database.hpp"

#include <vector>

/// Reads the cached identities; the committer writes them. Safe from any
/// thread.
namespace weir::storage {

result<std::optional<identity_row>> load_identity(const database& db,
                                                  const atproto::did& repo);

/// What the directory's export says of this DID.
result<std::optional<identity_row>> load_exported(const database& db,
                                                  const atproto::did& repo);

/// The first `limit` DIDs of which the export says something.
result<std::vector<atproto::did>> list_exported(const database& db,
                                                size_t limit);

/// How far the export was read; an empty row when it was not read at all.
result<export_row> load_export_place(const database& db);

} // namespace weir::storage
