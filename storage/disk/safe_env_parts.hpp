#pragma once

#include "storage/disk/safe_env.hpp"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

/// The parts of `safe_env`; only `safe_env*.cpp` include it.
namespace weir::storage {

using atomic_counters = env_counts<std::atomic<uint64_t>>;

/// How files report to the Env that they belong to. It outlives them.
class write_guard {
public:
  virtual ~write_guard() = default;

  /// Not ok after anything has failed.
  virtual leveldb::Status healthy() const = 0;

  /// Returns the status. One that is not ok poisons the Env.
  virtual leveldb::Status check(leveldb::Status x) = 0;

  /// Makes the entry of `name` in its directory durable.
  virtual leveldb::Status sync_parent(const std::string& name) = 0;

  atomic_counters counts;
};

enum class file_kind : uint8_t { log, manifest, other };

/// Wraps `base` so that it follows the rules of `safe_env`. The caller owns the
/// result.
leveldb::WritableFile* guarded_file(std::unique_ptr<leveldb::WritableFile> base,
                                    std::string name, file_kind kind,
                                    write_guard& owner);

/// Wraps `base`, which it then owns, and counts its reads. The caller owns the
/// result.
leveldb::RandomAccessFile* counted_file(leveldb::RandomAccessFile* base,
                                        atomic_counters& counts);

/// A text log that begins anew at `bytes_max` bytes and keeps one predecessor,
/// `<name>.old`. Its failures are ignored. The caller owns the result.
leveldb::Logger* bounded_logger(leveldb::Env& files, std::string name,
                                uint64_t bytes_max);

/// One thread, started by the first job. It runs jobs in order and ends with
/// the object, after the job that is running.
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
