#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/table_family.hpp"

namespace weir::storage {

/// Approximate bytes on disk of each group. Bytes that are still in memory or
/// will be merged away are not counted exactly. It reads some indexes; any
/// thread.
family_sizes store_sizes(const database& db);

} // namespace weir::storage
