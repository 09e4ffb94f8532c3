#pragma once

#include <cstddef>
#include <cstdint>

/// Limits of `storage/backup`: the value itself is allowed, value + 1 is not.
namespace weir::limits {

/// Complete backups in one directory. When a further one is complete, the
/// oldest goes. There are two, since the newest may turn out to be useless: of
/// a store that was damaged already, or of repos that were removed by mistake.
constexpr size_t backups_kept = 2;

/// Bytes that are copied in one step: the memory that a backup takes, and the
/// time until it can be ended.
constexpr size_t backup_piece_bytes = 1'048'576;

/// Bytes of the file BACKUP, which has a line of about 150 bytes for each file:
/// enough for 3 TiB of tables of 32 MiB.
constexpr uint64_t backup_list_bytes_max = 16'777'216;

/// Bytes that a backup leaves free on the disk that it is written to.
constexpr uint64_t backup_free_bytes_min = 67'108'864;

} // namespace weir::limits
