#pragma once

#include "base/error.hpp"

#include <string>

namespace weir::storage {

class disk_env;

/// Checks the logs that LevelDB will replay, before it does
/// (docs/storage-format.md 1.1).
///
/// Sound logs, and a last one that a crash left incomplete, are not changed.
/// When the newest bytes are damaged and nothing valid follows, they were never
/// acknowledged: they are cut off and kept in the side file
/// `cut-<log>-<offset>`, which a warning names. When valid records follow the
/// damage, the store is refused.
///
/// The MANIFEST is treated alike. But a damaged edit is cut off only when every
/// file exists that the state before it names, so that nothing it replaced can
/// be missing.
///
/// A crash at any moment leaves a directory that this call can check again.
///
/// # Errors
/// `ec::storage_failure` for damage before the end, a missing log, or a failed
/// read or write (`ec::disk_full`). Without a MANIFEST it does nothing; LevelDB
/// then reports it.
///
/// @pre Nobody has the store open.
result<void> repair_logs(disk_env& disk, const std::string& directory);

} // namespace weir::storage
