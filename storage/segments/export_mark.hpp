#pragma once

#include "storage/disk/safe_env_disk.hpp"
#include "storage/format/records.hpp"

#include <string>

/// The file COMPLETE of a directory of segments. An export that was
/// interrupted looks like a smaller one, so the last thing that an export does
/// is to write how many operations there are.
namespace weir::storage {

/// Writes the file durably.
result<void> mark_complete(disk_env& disk, const std::string& directory,
                           op_id operations);

/// @returns an error unless the file says that the export has ended with
/// exactly these operations.
result<void> check_complete(disk_env& disk, const std::string& directory,
                            op_id operations);

} // namespace weir::storage
