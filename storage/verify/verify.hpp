#pragma once

#include "storage/disk/database.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/records.hpp"

#include <map>
#include <string>
#include <vector>

/// The checker behind `weir verify`: everything that one store can prove about
/// itself (architecture.md I2, I3, I6, and that tables agree).
namespace weir::storage {

/// One thing that is wrong.
struct verify_finding {
  std::string invariant; ///< "I2", "I3", "I6", or "tables".
  std::string where;     ///< DID, id or key.
  std::string sentence;
};

struct verify_options {
  uint16_t partition = 0;
  size_t findings_max = limits::findings_max; ///< Kept; all are counted.
  /// Records held at once while a collection is folded; larger ones are read
  /// several times.
  size_t fold_records_max = limits::fold_records_max;
};

struct verify_report {
  std::vector<verify_finding> findings;
  uint64_t findings_total = 0;
  /// What was looked at: "operations", "records", "roots rebuilt", ...
  std::map<std::string, uint64_t> counts;
};

/// Reads the whole store, memory bounded. Damage becomes findings; an error is
/// returned only when nothing could be checked.
///
/// # Ownership and threads
/// One thread. The store must not be written meanwhile: open it to read only.
result<verify_report> verify_store(const database& db,
                                   const verify_options& options = {});

} // namespace weir::storage
