#pragma once

#include "base/error.hpp"
#include "base/random.hpp"
#include "storage/disk/disk_space.hpp"
#include "storage/disk/write_batch.hpp"
#include "storage/format/keys.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace weir::storage {

class disk_env;
class safe_env;

/// Reads rows in key order. Holds table files while it lives and sees the
/// state of its creation: keep it short, page long scans with `key_after`.
/// One thread; ends before its database.
class row_reader {
public:
  ~row_reader();
  row_reader(row_reader&&) noexcept;
  row_reader& operator=(row_reader&&) noexcept;

  /// On a row, until the range ends or an error occurs.
  bool valid() const noexcept;

  /// @pre `valid()`. The views hold until the next move.
  std::string_view key() const noexcept;
  std::string_view value() const noexcept;

  void next();

  /// To the first row at or after `key`, never before the range.
  void seek(std::string_view key);

  /// Why it ended: ok, or `ec::storage_failure`.
  result<void> status() const;

private:
  friend class database;
  struct impl;
  explicit row_reader(std::unique_ptr<impl> x) noexcept;
  std::unique_ptr<impl> impl_;
};

enum class sync_mode : uint8_t {
  durable, ///< Returns after fsync: survives power loss.
  relaxed, ///< Survives the process; power loss takes a tail, never a hole.
};

enum class access_mode : uint8_t {
  owner,     ///< Reads and writes; one at a time, over all processes.
  read_only, ///< Nothing on disk changes; the owner must not be running.
};

struct database_options {
  std::string directory; ///< Created when absent (owner only).
  access_mode access = access_mode::owner;
  /// Draws the log's identity and the epoch while opening; null = the kernel's.
  random_source* random = nullptr;
  disk_env* disk = nullptr; ///< Null = this machine; else outlives the store.
  // What LevelDB takes of memory; a node divides its limit.
  size_t write_buffer_bytes = 67'108'864; ///< There are two.
  size_t block_cache_bytes = 67'108'864;
  size_t table_bytes = 33'554'432; ///< Of one file.
  size_t tables_open_max = 4'000;  ///< Their indexes are in memory.
  /// Called once when the store fails for good, from the thread that met it
  /// and with LevelDB's locks held: take note and return.
  std::function<void(const error&)> on_failure = {};
};

/// Counters for the console and for tests that count work.
struct database_counters {
  uint64_t gets = 0;
  uint64_t scans = 0; ///< Row readers and `last_in`.
  uint64_t batches = 0;
  uint64_t rows = 0;
  uint64_t bytes = 0; ///< Of keys and values written.
  uint64_t failed_reads = 0; ///< A scan's is counted when it ends.
};

/// One LevelDB with our options on a `safe_env`: the only door to the disk.
///
/// # Opening
/// Refuses, with a sentence that says what to do, and changes nothing: a
/// directory in use, of another format, not ours, or with a log whose damage
/// is followed by valid records. A damaged tail is cut off, loudly, and kept in
/// a side file. Every open by an owner begins a new epoch, durable before
/// `open` returns.
///
/// # Durability
/// After the first failed write nothing is written any more: `write` repeats
/// the error and reads go on. Whether the failed batch is there again after
/// the next open is unknown; read and see.
///
/// # Ownership and threads
/// Safe from any thread, but one writer at a time decides about order.
///
/// # Errors
/// `ec::storage_failure`, or `ec::disk_full` when no space was left;
/// `ec::invalid_argument` from `open` for a refusal that has nothing to do with
/// damage (in use, other format, not ours).
class database {
public:
  static result<std::unique_ptr<database>> open(database_options options);

  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  result<std::optional<std::string>> get(std::string_view key) const;

  /// All of `batch`, or nothing. The batch stays as it is.
  result<void> write(const write_batch& batch, sync_mode sync);

  /// Rows of a range, from its begin.
  row_reader scan(const key_range& range) const;

  /// The last row of a range.
  result<std::optional<std::pair<std::string, std::string>>>
  last_in(const key_range& range) const;

  /// True after a write failed: nothing is written any more.
  bool failed() const noexcept;

  /// Why; `ec::none` while healthy.
  error failure() const;

  /// Why reads failed: each sentence once, the first `limits::findings_max`.
  std::vector<std::string> failed_reads() const;

  /// Random, made with the store: positions of another log do not fit.
  uint64_t log_identity() const noexcept;

  /// Of this opening: counter in the upper, randomness in the lower 32 bits.
  uint64_t store_epoch() const noexcept;

  /// How many files LevelDB must merge; backfill pauses at
  /// `limits::level0_files_pause`.
  int level0_files() const;

  /// Bytes of all files of the directory; one that goes meanwhile counts as
  /// none.
  uint64_t file_bytes() const;

  /// Bytes on disk under a range, without what is still in memory.
  uint64_t approximate_bytes(const key_range& range) const;

  /// Takes what was deleted or overwritten in a range off the disk: rewrites
  /// the tables that still hold it, and ends the log. Reads the whole range.
  /// Blocks until that is done; nothing happens to what is read or written
  /// meanwhile.
  /// @returns false when some of it may be left, because a reader holds the
  ///          files or LevelDB moved them: call again later.
  result<bool> purge(const key_range& range);

  /// Memory of the memtables and the cache of blocks, about.
  uint64_t memory_bytes() const;

  /// Writes the memtable to a table, and empties the cache of blocks. Blocks
  /// until that is done, and until a compaction that is under way is over;
  /// nothing happens to what is read or written meanwhile.
  void release_memory();

  /// Of the file system it lies on. Asks the disk. A directory that was removed
  /// or replaced meanwhile is a failure for good.
  result<disk_space> space() const;

  database_counters counters() const noexcept;

  safe_env& files() noexcept;

private:
  friend class row_reader;
  friend class table_purge;
  struct impl;
  explicit database(std::unique_ptr<impl> x) noexcept;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::storage
