#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace weir::storage {

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
