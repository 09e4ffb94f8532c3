#pragma once

#include "base/error.hpp"

#include <string>

namespace weir::storage {

class disk_env;

/// Looks at the logs that LevelDB will replay, before it does
/// (storage-format.md 1.1).
///
/// Sound, or the last one torn by a crash: nothing is changed. The newest
/// bytes damaged, with nothing valid after them: they were never acknowledged
/// and are cut off; they stay in the side file `cut-<log>-<offset>`, and a
/// warning names it. Damage followed by valid records: refused.
///
/// The same for the MANIFEST; but what was an edit is cut off only when every
/// file is there that the state before it names, so that nothing it replaced
/// can be missing.
///
/// A crash at any moment leaves a directory for which the same holds.
///
/// # Errors
/// `ec::storage_failure`: damage that is more than a tail, a log that is gone,
/// or a failed read or write (`ec::disk_full`). Without a MANIFEST there is
/// nothing to look at, and LevelDB says so.
///
/// @pre Nobody has the store open.
result<void> repair_logs(disk_env& disk, const std::string& directory);

} // namespace weir::storage
