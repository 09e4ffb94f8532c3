#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/disk/slice.hpp"
#include "storage/disk/store_identity.hpp"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/iterator.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <memory>
#include <mutex>

/// The inside of `database`; only `database*.cpp` include it.
namespace weir::storage {

constexpr const char* damage_remedy
  = "restore a backup, or rebuild it from the network in a new directory";

/// Adds to LevelDB's status which store it is about, and what helps against
/// damage.
inline error from_status(const std::string& directory,
                         const leveldb::Status& x) {
  auto out = disk_error(x);
  out.context = "the store in " + directory
                + (x.IsCorruption()
                     ? " is damaged (" + out.context + "): " + damage_remedy
                     : ": " + out.context);
  return out;
}

/// Options for reads that check the checksums of blocks from disk.
inline leveldb::ReadOptions checked_read() {
  leveldb::ReadOptions out;
  out.verify_checksums = true;
  return out;
}

struct database::impl {
  explicit impl(database_options x) : options(std::move(x)) {}

  /// Does everything that `database::open` promises, in order. The first error
  /// ends it.
  result<void> open();
  result<void> claim_directory();
  result<void> check_expected() const;
  result<void> check_current();
  result<void> open_leveldb();
  result<void> check_meta();
  result<void> begin_epoch();
  result<uint64_t> meta_number(const char* name);

  /// Ends the memtable and its log. Also waits for a running compaction, and
  /// removes files that are not needed any more.
  void flush_memtable();

  /// The first call sets the reason; later ones change nothing.
  void fail_for_good(const error& reason);

  /// Makes the error and counts it.
  error failed_to_read(const leveldb::Status& x) const;

  bool read_only() const noexcept {
    return options.access == access_mode::read_only;
  }

  database_options options;
  store_identity identity;
  uint64_t epoch = 0;
  bool fresh = false; ///< No batch was written to it yet.

  std::atomic<bool> serving{false}; ///< True after `open`.
  std::atomic<bool> failed{false};
  mutable std::mutex failure_mutex;
  error failure;
  /// Guarded by `failure_mutex`.
  mutable std::vector<std::string> read_failures;

  mutable std::atomic<uint64_t> gets{0};
  mutable std::atomic<uint64_t> scans{0};
  mutable std::atomic<uint64_t> failed_reads{0};
  std::atomic<uint64_t> batches{0};
  std::atomic<uint64_t> rows{0};
  std::atomic<uint64_t> bytes{0};

  // Each member from here on uses those before it and is destroyed before them.
  // Closing may still fail, which is noted in the members above.
  std::unique_ptr<overlay_disk> shield; ///< Set when read only.
  disk_env* disk = nullptr;
  random_source* random = nullptr;
  std::unique_ptr<owner_lock> lock;
  /// How many checks in a row found the directory not in its place.
  std::atomic<size_t> looks_missed{0};
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<safe_env> env;
  std::unique_ptr<leveldb::DB> db;
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
