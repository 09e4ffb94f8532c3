#pragma once

#include "storage/disk/database.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/disk/slice.hpp"
#include "storage/disk/store_identity.hpp"

#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <functional>
#include <memory>

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

/// LevelDB of a store's directory, and what it stands on. `database` has one.
///
/// # Ownership and threads
/// One thread opens it; then its members may be used from any.
struct opened_store {
  explicit opened_store(database_options x) : options(std::move(x)) {}

  /// Does everything that `database::open` promises, in order. The first error
  /// ends it.
  /// @param on_poison Called on any thread when no more may be written, also
  /// while this ends.
  result<void> open(std::function<void(const error&)> on_poison);
  result<void> claim_directory();
  result<void> check_expected() const;
  result<void> check_current();
  result<void> open_leveldb(std::function<void(const error&)> on_poison);
  result<void> check_meta();
  result<void> begin_epoch();
  result<uint64_t> meta_number(const char* name);

  /// Ends the memtable and its log. Also waits for a running compaction, and
  /// removes files that are not needed any more.
  void flush_memtable();

  bool read_only() const noexcept {
    return options.access == access_mode::read_only;
  }

  database_options options;
  store_identity identity;
  uint64_t epoch = 0;
  bool fresh = false; ///< No batch was written to it yet.

  // Each member from here on uses those before it and is destroyed before them.
  std::unique_ptr<overlay_disk> shield; ///< Set when read only.
  disk_env* disk = nullptr;
  random_source* random = nullptr;
  std::unique_ptr<owner_lock> lock;
  std::unique_ptr<const leveldb::FilterPolicy> filter;
  std::unique_ptr<leveldb::Cache> cache;
  std::unique_ptr<safe_env> env;
  std::unique_ptr<leveldb::DB> db;
};

/// An older copy of a store lies in the place of a newer one.
error older_copy(const std::string& directory);

} // namespace weir::storage
