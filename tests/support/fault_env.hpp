#pragma once

#include "storage/disk/safe_env_disk.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace weir::tests {

/// Kinds of calls that can be made to fail.
enum class io_call : uint8_t {
  create,
  append,
  flush,
  sync,
  close,
  rename,
  remove,
  read,
  sync_directory,
  open,   ///< Opening a file to read it.
  look,   ///< Asking for the size of a file or the names in a directory.
  exists, ///< Cannot return an error: answers that nothing is there.
};

constexpr size_t io_call_kinds = 12;

constexpr uint32_t kind_bit(io_call x) noexcept {
  return 1u << static_cast<unsigned>(x);
}

constexpr uint32_t all_kinds = (1u << io_call_kinds) - 1;
constexpr uint32_t read_kinds
  = kind_bit(io_call::read) | kind_bit(io_call::open) | kind_bit(io_call::look)
    | kind_bit(io_call::exists);
constexpr uint32_t write_kinds = all_kinds & ~read_kinds;

enum class io_error : uint8_t { no_space, io };

/// Which call fails, and how. Every call that `kinds`, `name_ends_with` and
/// `thread` select is counted; number `nth` (from 1) fails, and all later ones
/// when `sticky`.
struct fault_plan {
  uint64_t nth = 1;
  bool sticky = false;
  io_error error = io_error::io;
  /// A failing append writes this part of its data first, in 1/256: 0 =
  /// nothing, 256 = all of it.
  unsigned torn = 0;
  uint32_t kinds = write_kinds;
  std::string name_ends_with = {};
  /// Only calls of this thread count: LevelDB's own thread calls at any time.
  std::optional<std::thread::id> thread = {};
  /// Called once, before call `nth`, which then continues instead of failing.
  /// For example, it may cut the power.
  std::function<void()> instead = {};
};

/// A disk whose calls fail as planned, on top of a real or a simulated one.
///
///   memory_disk disk;              // or storage::posix_disk()
///   fault_env faults{disk};
///   faults.plan({.nth = 7, .error = io_error::no_space});
///   // open a database with options.disk = &faults
///
/// # Ownership and threads
/// `base` outlives it. Safe from any thread.
class fault_env final : public storage::disk_env {
public:
  explicit fault_env(storage::disk_env& base);

  /// Replaces the plan and counts from the start.
  void plan(fault_plan x);

  /// Ends the faults of the plan; the budget stays.
  void heal();

  /// True once the planned call was reached.
  bool reached() const;

  /// The number of calls that failed as planned, and that failed because the
  /// budget was used up.
  uint64_t failures() const;
  uint64_t refusals() const;

  /// Calls counted by the current plan.
  uint64_t calls() const;

  /// All calls of a kind since this object was made, failed ones included.
  uint64_t calls(io_call kind) const;

  /// The same, but only calls of the thread that made this object. LevelDB's
  /// own thread makes its calls at any time.
  uint64_t calls_of_maker(io_call kind) const;

  /// Bytes that were appended to LevelDB's write-ahead logs since this object
  /// was made. Compactions, which come irregularly, are not counted.
  uint64_t journaled() const;

  /// Bytes that were appended to files of the store since this object was made,
  /// but for LevelDB's own log in text.
  uint64_t appended() const;

  /// Leaves room for this many more bytes. An append beyond it writes what fits
  /// and fails with "no space left". `space` reports the rest of the budget.
  void budget(std::optional<uint64_t> bytes);

  // -- Env --------------------------------------------------------------------

  leveldb::Status NewSequentialFile(const std::string& name,
                                    leveldb::SequentialFile** out) override;
  leveldb::Status NewRandomAccessFile(const std::string& name,
                                      leveldb::RandomAccessFile** out) override;
  leveldb::Status NewWritableFile(const std::string& name,
                                  leveldb::WritableFile** out) override;
  leveldb::Status NewAppendableFile(const std::string& name,
                                    leveldb::WritableFile** out) override;
  bool FileExists(const std::string& name) override;
  leveldb::Status GetChildren(const std::string& directory,
                              std::vector<std::string>* out) override;
  leveldb::Status GetFileSize(const std::string& name, uint64_t* size) override;
  leveldb::Status RemoveFile(const std::string& name) override;
  leveldb::Status RenameFile(const std::string& from,
                             const std::string& to) override;

  leveldb::Status sync_directory(const std::string& directory) override;
  leveldb::Status space(const std::string& directory,
                        storage::disk_space& out) override;
  leveldb::Status
  lock_owner(const std::string& file, bool shared,
             std::unique_ptr<storage::owner_lock>& out) override;
  leveldb::Status check_place(const std::string& directory) override;
  leveldb::Status link_file(const std::string& from,
                            const std::string& to) override;
  leveldb::Status stamp(const std::string& name,
                        storage::file_stamp& out) override;
  leveldb::Status check_owned(const std::string& directory) override;
  leveldb::Status create_private(const std::string& directory) override;

private:
  class reader;
  class table;
  class writer;

  /// Counts a call. The status is not ok when the call must fail.
  leveldb::Status enter(io_call kind, const std::string& name);

  /// Sets how much of an append of `size` bytes reaches the disk.
  leveldb::Status enter_append(const std::string& name, size_t size,
                               size_t& reaches);

  storage::disk_env& base_;
  mutable std::mutex mutex_;
  fault_plan plan_;
  bool armed_ = false;
  bool reached_ = false;
  uint64_t failures_ = 0;
  uint64_t refusals_ = 0;
  uint64_t counted_ = 0;
  std::array<uint64_t, io_call_kinds> totals_{};
  std::array<uint64_t, io_call_kinds> of_maker_{};
  const std::thread::id maker_ = std::this_thread::get_id();
  std::optional<uint64_t> budget_;
  uint64_t journaled_ = 0;
  uint64_t appended_ = 0;
};

} // namespace weir::tests
