#pragma once

#include "storage/disk/database_impl.hpp"
#include "storage/disk/table_list.hpp"

#include <optional>
#include <vector>

namespace weir::storage {

/// Removes deleted and overwritten values in a range of keys from the disk.
///
/// # Why LevelDB does not
/// It keeps such values in its tables until a compaction reads them.
/// `CompactRange` does not rewrite the deepest table of a range when no table
/// lies above it. That is where a value is that was written and deleted in one
/// memtable, or that was moved down without being rewritten. So this class
/// looks into the tables: it rewrites those that contain a value which is not
/// the current one, and no others.
///
/// # Ownership and threads
/// Borrows the database. One thread; readers and the writer may run meanwhile.
class table_purge {
public:
  table_purge(database::impl& of, const key_range& range)
    : of_(of), range_(range) {}

  /// @returns true when no table and no log from before this call contains such
  /// a value; false when a reader keeps one or LevelDB moved tables meanwhile:
  /// call it again later.
  result<bool> run();

private:
  /// The first and last key in the range whose value in a table is not current.
  struct dead_rows {
    std::string first;
    std::string last;
  };

  result<std::vector<dead_rows>> find_dead();
  result<std::optional<dead_rows>> look_into(const table_file& x,
                                             leveldb::Iterator& live) const;
  result<void> rewrite(const std::vector<dead_rows>& all);
  result<uint64_t> newest_file() const;
  result<bool> is_left(uint64_t newest) const;
  std::string path_of(uint64_t table) const;

  database::impl& of_;
  const key_range& range_;
  bool moved_ = false; ///< A table was gone before it could be read.
};

} // namespace weir::storage
