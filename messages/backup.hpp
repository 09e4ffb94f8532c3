#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace weir {

/// Back the stores up to this directory. From: API. To: BACKUP.
struct make_backup {
  std::string directory;
};

/// The answer when the backup is complete and durable.
struct backup_made {
  std::string folder;
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t copied_bytes = 0; ///< The rest are second names of files.
  uint64_t reused_files = 0; ///< Known from the backup before.
  std::chrono::microseconds pause{0};    ///< Nothing was written for so long.
  std::chrono::microseconds duration{0}; ///< All of it.
};

} // namespace weir
