#pragma once

#include "base/error.hpp"
#include "storage/disk/file_gate.hpp"
#include "storage/disk/limits.hpp"
#include "storage/disk/safe_env_disk.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace weir::storage {

struct safe_env_options {
  /// The disk below; outlives the object.
  disk_env* disk = nullptr;
  /// Called once, at the first write error: `ec::disk_full` when no space was
  /// left, otherwise `ec::storage_failure`. It runs on the thread that met the
  /// error, with LevelDB's locks held: note the error and return; never call
  /// the store.
  std::function<void(const error&)> on_poison = {};
  /// Limit for the info log; it and its predecessor take at most twice this.
  uint64_t info_log_bytes_max = limits::info_log_bytes_max;
  /// Called with the path of each log that LevelDB begins, after its name is
  /// durable and before its first byte, with LevelDB's locks held. A status
  /// that is not ok poisons the object.
  std::function<leveldb::Status(const std::string&)> on_log = {};
};

/// While it lives, LevelDB removes no file of its store. They are removed when
/// the last hold ends; after a crash LevelDB removes them as it opens the
/// store. It ends before the store.
class file_hold {
public:
  virtual ~file_hold() = default;
};

/// The Env under every LevelDB of ours. It makes sure that what was
/// acknowledged is there after a crash or a power loss (ADR 1).
///
/// # Durability
/// - A `.log` is synced before it is closed, so that a change of logs leaves no
///   gap.
/// - The directory is synced at three moments: after a `.log` was created;
///   before the first byte of a change reaches a MANIFEST, because unsynced
///   bytes may survive and they name tables; and after CURRENT was replaced.
/// - The first failed create, append, flush, sync, close or rename poisons the
///   object. From then on every write fails with the same error and nothing
///   reaches the disk, so LevelDB cannot acknowledge what was lost. Reads still
///   work. Only a new object can write again.
///
/// # Ownership and threads
/// Safe from any thread. Background work runs on one thread of its own, which
/// ends with the object. The object outlives the LevelDB opened with it.
class safe_env {
public:
  explicit safe_env(safe_env_options options);
  ~safe_env();
  safe_env(const safe_env&) = delete;
  safe_env& operator=(const safe_env&) = delete;

  /// The value for `leveldb::Options::env`.
  leveldb::Env* env() const noexcept;

  /// Returns when no background work is queued or running. For simulations, in
  /// which everything else runs on one thread.
  void wait_until_idle() const;

  /// While the result lives, the files are those that `kill -9` would leave
  /// now. Writers wait, so keep it only for a look.
  file_gate::stand_still stand_still();

  /// Begins a hold (`file_hold`). Files that LevelDB removes meanwhile take
  /// space until it ends.
  std::unique_ptr<file_hold> hold_files();

private:
  class impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::storage
