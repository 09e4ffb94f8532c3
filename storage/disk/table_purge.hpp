#pragma once

#include "storage/disk/database_impl.hpp"
#include "storage/disk/table_list.hpp"

#include <optional>
#include <vector>

namespace weir::storage {

/// Takes what is not there any more off the disk, within a range of keys.
///
/// # Why LevelDB does not
/// It keeps deleted and overwritten values in its tables until a compaction
/// meets them. `CompactRange` does not rewrite the deepest table of a range
/// when nothing lies above it, and that is where a value is that was written
/// and deleted in one memtable, or that moved down as it was. So this looks
/// into the tables itself: those that hold a value which is not the one a
/// reader sees now are rewritten, and no others.
///
/// # Ownership and threads
/// Borrows the database. One thread; beside all readers and the writer.
class table_purge {
public:
  table_purge(database::impl& of, const key_range& range)
    : of_(of), range_(range) {
    // nop
  }

  /// @returns true when neither a table nor a log from before this call holds
  ///          such a value; false when some reader holds one, or LevelDB moved
  ///          tables meanwhile: call again later.
  result<bool> run();

private:
  /// First and last key of dead values that a table holds in the range.
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
  bool moved_ = false; ///< A table was gone before it was looked into.
};

} // namespace weir::storage
