#pragma once

#include "actors/support/all_stores.hpp"
#include "storage/disk/database.hpp"
#include "storage/log/tail_cache.hpp"
#include "storage/tables/collection_table.hpp"

#include <memory>
#include <string>
#include <vector>

namespace weir::apps {

/// The stores of a data directory that no node uses, open to read only.
///
/// # Ownership and threads
/// Owns the stores. One thread.
class closed_stores {
public:
  /// @param disk Null: the machine's.
  static result<closed_stores> open(const std::string& data_dir,
                                    storage::disk_env* disk = nullptr);

  /// All stores, in the order of partitions.
  const std::vector<std::unique_ptr<storage::database>>& all() const noexcept {
    return databases_;
  }

  /// The one that also has the rows of the node.
  const storage::database& root() const noexcept { return *databases_.front(); }

  /// Readers of all stores, which find the store of a repo.
  const actors::all_stores& repos() const noexcept { return repos_; }

private:
  struct opened {
    std::unique_ptr<storage::collection_table> names;
    storage::tail_cache tail{1}; ///< It stays empty.
    std::unique_ptr<store_readers> readers;
  };

  std::vector<std::unique_ptr<storage::database>> databases_;
  std::vector<std::unique_ptr<opened>> opened_;
  actors::all_stores repos_;
};

} // namespace weir::apps
