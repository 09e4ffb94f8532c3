#pragma once

#include "storage/backup/backup_place.hpp"
#include "storage/backup/file_copy.hpp"
#include "storage/backup/store_capture.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace weir::storage {

/// What to back up, and where to.
struct backup_order {
  std::string directory; ///< An absolute path; see `backup_place`.
  std::string data_dir;
  std::vector<database*> stores; ///< Open, in the order of partitions.
  std::string log_epoch;
  /// For each partition the last operation that is durable, asked before the
  /// backup began.
  std::vector<uint64_t> last_operations;
};

/// What a backup has.
struct backup_summary {
  std::string folder; ///< Empty until it is complete.
  uint64_t files = 0;
  uint64_t bytes = 0;
  uint64_t reused_files = 0;  ///< Known from the backup before.
  uint64_t copied_bytes = 0;  ///< Written; the rest are second names of files.
  std::chrono::microseconds pause{0}; ///< `store_capture::pause`.
};

/// Makes one backup of open stores, in small steps, so that whoever calls
/// decides how fast it goes and when it ends.
///
/// # Operation
/// A capture says which files the backup has. A table that the backup before
/// has already, as its stamp proves, gets a second name there. A table on the
/// same disk gets a second name of the store's file and is read once, for its
/// checksum. Everything else is copied. The file BACKUP comes last, and then
/// the folder gets its name, so what is not finished is never taken for a
/// backup.
///
/// # Ownership and threads
/// Borrows the stores, which outlive it, and the disk. One thread. A draft that
/// is neither finished nor given up stays until the next backup.
class backup_writer {
public:
  /// Takes the directory and captures the stores.
  /// @param disk The disk that the stores and the directory are on.
  /// @returns an error of `backup_place::claim` or `store_capture::take`
  static result<backup_writer> begin(backup_order order, disk_env& disk,
                                     const clock& time);

  /// Does a piece of work. After an error the draft is gone.
  /// @returns true when the backup is complete
  result<bool> step();

  /// Ends it and removes what was written.
  void give_up();

  const backup_summary& summary() const noexcept { return summary_; }

private:
  /// What is still to be done for one file.
  struct source {
    std::string from;
    std::string path; ///< In the backup.
    /// How much of it; nothing: all of a table, which never changes.
    std::optional<uint64_t> bytes;
  };

  backup_writer(backup_place place, store_capture capture, disk_env& disk)
    : place_(std::move(place)), capture_(std::move(capture)), disk_(&disk) {}

  result<void> prepare();
  result<bool> do_step();
  result<void> write_names(const captured_store& x);
  result<void> plan_tables(const captured_store& x);
  result<void> begin_file(source x);
  result<bool> link_table(const source& x);
  result<void> begin_copy(const std::string& from, const std::string& to);
  result<void> finish();
  bool reuse();
  void end_file(std::string sum);

  std::string draft_path(const std::string& path) const {
    return place_.draft() + "/" + path;
  }

  backup_place place_;
  std::optional<store_capture> capture_; ///< None: nothing is read any more.
  disk_env* disk_;
  backup_list list_;
  std::map<std::string, backup_entry> before_; ///< Of the backup before.
  std::vector<source> left_;                   ///< Taken from the back.
  bool tables_planned_ = false;
  std::optional<file_copy> copy_;
  backup_entry entry_; ///< The file that is being copied or read.
  backup_summary summary_;
};

} // namespace weir::storage
