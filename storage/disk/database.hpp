#pragma once

#include "base/error.hpp"
#include "base/random.hpp"
#include "storage/disk/store_identity.hpp"
#include "storage/disk/write_batch.hpp"
#include "storage/format/disk_space.hpp"
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

/// Reads rows in the order of keys, as they were when the reader was created.
/// While it lives, it keeps table files on disk. So keep it short, and read
/// long scans in pages with `key_after`. One thread; it must end before its
/// database.
class row_reader {
public:
  ~row_reader();
  row_reader(row_reader&&) noexcept;
  row_reader& operator=(row_reader&&) noexcept;

  /// True while it is on a row of the range and no error has occurred.
  bool valid() const noexcept;

  /// @pre `valid()`. The views are valid until the next move.
  std::string_view key() const noexcept;
  std::string_view value() const noexcept;

  void next();

  /// Moves to the first row of the range at or after `key`.
  void seek(std::string_view key);

  /// Why the reading ended: ok, or `ec::storage_failure`.
  result<void> status() const;

private:
  friend class database;
  struct impl;
  explicit row_reader(std::unique_ptr<impl> x) noexcept;
  std::unique_ptr<impl> impl_;
};

enum class sync_mode : uint8_t {
  durable, ///< Returns after fsync, so it survives power loss.
  relaxed, ///< Survives a crash. Power loss may take the newest writes.
};

enum class access_mode : uint8_t {
  owner,     ///< Reads and writes. Only one process at a time.
  read_only, ///< Changes nothing on disk. No owner may be running.
};

struct database_options {
  std::string directory; ///< Created when absent (by an owner only).
  access_mode access = access_mode::owner;
  bool may_make = true; ///< False: without a store there is `ec::not_found`.
  /// The identity that a new store gets and an existing one must have; a log
  /// identity of 0 means a random or any one. Empty: nothing is demanded.
  std::optional<store_identity> expected;
  /// A store that owners opened less often than this is refused as an older
  /// copy, before this opening counts.
  uint64_t openings_min = 0;
  /// Source of the log's identity and the epoch; null for the kernel's.
  random_source* random = nullptr;
  /// Null for this machine's files; otherwise outlives the store.
  disk_env* disk = nullptr;
  // The memory that LevelDB uses; a node divides its limit among these.
  size_t write_buffer_bytes = 67'108'864; ///< LevelDB has two of them.
  size_t block_cache_bytes = 67'108'864;
  size_t table_bytes = 33'554'432; ///< Size of one file.
  size_t tables_open_max = 4'000;  ///< Their indexes are in memory.
  /// Called once when the store fails for good. It runs on the thread that met
  /// the failure, with LevelDB's locks held: note the error and return.
  std::function<void(const error&)> on_failure = {};
};

/// A counter for metrics, and two for tests (ADR 29).
template <class Count>
struct database_counts {
  Count gets{0};
  Count scans{0};        ///< Row readers and calls of `last_in`.
  Count failed_reads{0}; ///< A failed scan is counted when it ends.
};
using database_counters = database_counts<uint64_t>;

/// One LevelDB with our options on a `safe_env`. All access to the store's disk
/// goes through it.
///
/// # Opening
/// `open` refuses a directory that is in use, has another format or is not
/// ours, and a log in which valid records follow damage. The error says what to
/// do, and nothing is changed. A damaged end of a log is cut off with a warning
/// and kept in a side file. Every open by an owner begins a new store epoch,
/// which is durable before `open` returns (docs/storage-format.md 1.1).
///
/// # Durability
/// After the first failed write nothing more is written: `write` repeats the
/// error, while reads still work. The failed batch may or may not be there
/// after the next open; read it to find out.
///
/// # Ownership and threads
/// Safe from any thread. Writes are ordered only if one thread at a time
/// writes.
///
/// # Errors
/// `ec::storage_failure`, or `ec::disk_full` when no space was left.
/// `ec::invalid_argument` from `open` when it refuses for another reason than
/// damage: the directory is in use, has another format or is not ours.
class database {
public:
  static result<std::unique_ptr<database>> open(database_options options);

  ~database();
  database(const database&) = delete;
  database& operator=(const database&) = delete;

  result<std::optional<std::string>> get(std::string_view key) const;

  /// Writes all of `batch` or nothing. The batch is not changed.
  result<void> write(const write_batch& batch, sync_mode sync);

  /// Reads the rows of a range from its beginning.
  row_reader scan(const key_range& range) const;

  /// The last row of a range.
  result<std::optional<std::pair<std::string, std::string>>>
  last_in(const key_range& range) const;

  /// True after a failed write; nothing more is written then.
  bool failed() const noexcept;

  /// The reason of the failure; `ec::none` while healthy.
  error failure() const;

  /// The reasons of failed reads, each once, at most `limits::findings_max`.
  std::vector<std::string> failed_reads() const;

  /// Positions of another log have another `log_identity`.
  const store_identity& identity() const noexcept;

  uint64_t log_identity() const noexcept { return identity().log_identity; }

  /// Identifies this opening: a counter in the upper 32 bits, random bits in
  /// the lower.
  uint64_t store_epoch() const noexcept;

  /// How often owners opened the store, this opening included.
  uint64_t openings() const noexcept { return store_epoch() >> 32; }

  /// Number of files that LevelDB must merge. Backfill pauses at
  /// `limits::level0_files_pause`.
  int level0_files() const;

  /// Size of all files of the directory. A file that is removed meanwhile
  /// counts 0.
  uint64_t file_bytes() const;

  /// Bytes on disk under a range, without those that are only in memory.
  uint64_t approximate_bytes(const key_range& range) const;

  /// Removes the deleted and overwritten values of a range from the disk:
  /// rewrites the tables that contain them and ends the log. It reads the whole
  /// range and blocks until this is done. Readers and the writer are not
  /// disturbed.
  /// @returns false when some values may remain, because a reader keeps files
  /// or LevelDB moved tables meanwhile: call it again later.
  result<bool> purge(const key_range& range);

  /// Approximate memory of the memtables and the block cache, in bytes.
  uint64_t memory_bytes() const;

  /// Writes the memtable to a table and empties the block cache. It blocks
  /// until this and any running compaction are done. Readers and the writer are
  /// not disturbed.
  void release_memory();

  /// Space on the store's file system; asks the disk. When the directory was
  /// removed or replaced meanwhile, the store fails for good.
  result<disk_space> space() const;

  /// Whether the disk takes writes now (`try_writes` says how it is found out).
  /// For a store that failed because the disk took none. It blocks for several
  /// fsyncs.
  /// @returns why not, with the free bytes of the disk
  result<void> try_disk() const;

  database_counters counters() const noexcept;

  safe_env& files() noexcept;

  const std::string& directory() const noexcept;

  struct impl;

private:
  friend class row_reader;
  explicit database(std::unique_ptr<impl> x) noexcept;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::storage
