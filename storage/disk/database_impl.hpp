#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/opened_store.hpp"

#include <atomic>
#include <mutex>

/// The inside of `database`; in a header since `table_purge` works on it, too.
namespace weir::storage {

struct database::impl {
  explicit impl(database_options x) : store(std::move(x)) {}

  /// The first call sets the reason; later ones change nothing.
  void fail_for_good(const error& reason);

  /// Makes the error and counts it.
  error failed_to_read(const leveldb::Status& x) const;

  std::atomic<bool> serving{false}; ///< True after `open`.
  std::atomic<bool> failed{false};
  mutable std::mutex failure_mutex;
  error failure;
  /// Guarded by `failure_mutex`.
  mutable std::vector<std::string> read_failures;

  mutable database_counts<std::atomic<uint64_t>> counts;
  /// How many checks in a row found the directory not in its place.
  std::atomic<size_t> looks_missed{0};

  /// Closing it may still fail, which is noted in the members above.
  opened_store store;
};

} // namespace weir::storage
