#include "storage/disk/background_worker.hpp"

#include "base/process.hpp"

namespace weir::storage {

background_worker::~background_worker() {
  {
    const std::lock_guard guard{mutex_};
    ending_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable())
    thread_.join();
}

void background_worker::post(void (*function)(void*), void* argument) {
  const std::lock_guard guard{mutex_};
  if (!thread_.joinable())
    thread_ = std::thread{[this] {
      name_thread("leveldb");
      run();
    }};
  jobs_.emplace_back(function, argument);
  changed_.notify_all();
}

void background_worker::wait_until_idle() const {
  std::unique_lock guard{mutex_};
  changed_.wait(guard, [this] {
    return jobs_.empty() && !busy_;
  });
}

void background_worker::run() {
  std::unique_lock guard{mutex_};
  for (;;) {
    changed_.wait(guard, [this] {
      return ending_ || !jobs_.empty();
    });
    if (ending_)
      return;
    const auto [function, argument] = jobs_.front();
    jobs_.pop_front();
    busy_ = true;
    guard.unlock();
    function(argument);
    guard.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

} // namespace weir::storage
