#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/limits.hpp"
#include "storage/verify/limits.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

/// The checker behind `weir verify`: everything that one store can prove about
/// itself (docs/storage-format.md 6). It checks the invariants I2, I3 and I6 of
/// docs/architecture.md, and that tables agree with each other.
namespace weir::storage {

/// One thing that is wrong.
struct verify_finding {
  std::string invariant; ///< "I2", "I3", "I6", or "tables".
  std::string where;     ///< DID, id or key.
  std::string sentence;
};

struct verify_options {
  uint16_t partition = 0;
  /// How many findings are kept; all of them are counted.
  size_t findings_max = limits::findings_max;
  /// How many records of a collection are in memory at once. Larger collections
  /// are read several times.
  size_t fold_records_max = limits::fold_records_max;
  /// The first store of the data directory, which has the rows of the node;
  /// null: it is this one.
  const database* root = nullptr;
};

struct verify_report {
  std::vector<verify_finding> findings;
  uint64_t findings_total = 0;
  /// How many of each kind were checked: "operations", "records", "roots
  /// rebuilt", ...
  std::map<std::string, uint64_t> counts;
};

/// Reads the whole store with bounded memory. Damage becomes findings. An error
/// is returned only when nothing could be checked.
///
/// # Ownership and threads
/// One thread. The store must not be written meanwhile; open it to read only.
result<verify_report> verify_store(const database& db,
                                   const verify_options& options = {});

/// All stores of a data directory, the first one first. Where there are
/// several, findings say of which partition they are.
result<verify_report>
verify_stores(const std::vector<std::unique_ptr<database>>& all);

} // namespace weir::storage
