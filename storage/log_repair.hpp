#pragma once

#include "base/error.hpp"

#include <string>

namespace weir::storage {

class disk_env;

/// Looks at the logs that LevelDB will replay, before it does (architecture.md
/// 4, reliability.md 4).
///
/// Sound, or the last one torn by a crash: nothing is changed. The newest
/// bytes damaged, with nothing valid after them: they were never acknowledged
/// and are cut off; they stay in the side file `cut-<log>-<offset>`, and a
/// warning names it. Damage followed by valid records: refused.
///
/// A crash at any moment leaves a directory for which the same holds.
///
/// # Errors
/// `ec::storage_failure`: damage that is more than a tail, or a failed read or
/// write (`ec::disk_full`). A damaged MANIFEST is refused, too; without one
/// there is nothing to look at, and LevelDB says so.
///
/// @pre Nobody has the store open.
result<void> repair_logs(disk_env& disk, const std::string& directory);

} // namespace weir::storage
