#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/opened_store.hpp"

#include <leveldb/iterator.h>

#include <atomic>
#include <memory>
#include <mutex>

/// The inside of `database`; only database.cpp and table_purge.cpp include it.
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

struct row_reader::impl {
  impl(const database::impl& of, leveldb::Iterator* all, key_range part)
    : owner(of), rows(all), range(std::move(part)) {}

  ~impl() {
    if (const auto x = rows->status(); !x.ok())
      owner.failed_to_read(x);
  }

  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  const database::impl& owner;
  std::unique_ptr<leveldb::Iterator> rows;
  key_range range;
};

} // namespace weir::storage
