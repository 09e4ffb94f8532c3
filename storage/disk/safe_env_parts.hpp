#pragma once

#include <leveldb/env.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

/// What `safe_env` is made of. Included by `safe_env*.cpp` only.
namespace weir::storage {

struct atomic_counters {
  std::atomic<uint64_t> bytes_written{0};
  std::atomic<uint64_t> bytes_read{0};
  std::atomic<uint64_t> writes{0};
  std::atomic<uint64_t> syncs{0};
  std::atomic<uint64_t> directory_syncs{0};
  std::atomic<uint64_t> files_created{0};
  std::atomic<uint64_t> files_removed{0};
};

/// What files ask and tell the Env they belong to. Outlives them.
class write_guard {
public:
  virtual ~write_guard() = default;

  /// Not ok once anything failed.
  virtual leveldb::Status healthy() const = 0;

  /// Passes a status on; one that is not ok poisons.
  virtual leveldb::Status check(leveldb::Status x) = 0;

  /// Makes the entry of `name` in its directory durable.
  virtual leveldb::Status sync_parent(const std::string& name) = 0;

  atomic_counters counts;
};

enum class file_kind : uint8_t { log, manifest, other };

/// `base` under the rules of `safe_env`. The caller owns the result.
leveldb::WritableFile* guarded_file(std::unique_ptr<leveldb::WritableFile> base,
                                    std::string name, file_kind kind,
                                    write_guard& owner);

/// Counts reads of `base`, which it owns. The caller owns the result.
leveldb::RandomAccessFile* counted_file(leveldb::RandomAccessFile* base,
                                        atomic_counters& counts);

/// A text log that begins anew at `bytes_max` and keeps one predecessor,
/// `<name>.old`. Its failures harm nobody. The caller owns the result.
leveldb::Logger* bounded_logger(leveldb::Env& files, std::string name,
                                uint64_t bytes_max);

/// One thread, started by the first job, that runs jobs in order and ends with
/// the object, after the job at hand.
class background_worker {
public:
  background_worker() = default;
  ~background_worker();
  background_worker(const background_worker&) = delete;
  background_worker& operator=(const background_worker&) = delete;

  void post(void (*function)(void*), void* argument);

  void wait_until_idle() const;

private:
  void run();

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::deque<std::pair<void (*)(void*), void*>> jobs_;
  bool busy_ = false;
  bool ending_ = false;
  std::thread thread_;
};

} // namespace weir::storage
