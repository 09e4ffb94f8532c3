#pragma once

#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <vector>

namespace weir::storage {

/// Makes the files of an open store stand still for a moment, and keeps the
/// files that LevelDB removes for as long as somebody reads them. `safe_env`
/// has one.
///
/// # Threads
/// Safe from any thread.
class file_gate {
public:
  using passage = std::shared_lock<std::shared_mutex>;
  using stand_still = std::unique_lock<std::shared_mutex>;

  /// Whoever changes a file or a name in the directory holds this meanwhile,
  /// for one call of the system. Calls do not wait for each other.
  passage pass() { return passage{changes_}; }

  /// Waits for the changes that are under way. None begins while the result
  /// lives.
  stand_still stop() { return stand_still{changes_}; }

  /// From now on `keeps` notes files. Each call needs its own `release`.
  void hold() {
    const std::lock_guard guard{mutex_};
    ++holds_;
  }

  /// Ends a `hold`.
  /// @returns the noted files when it was the last one: nobody needs them any
  /// more
  std::vector<std::string> release() {
    const std::lock_guard guard{mutex_};
    if (--holds_ > 0)
      return {};
    std::vector<std::string> out(kept_.begin(), kept_.end());
    kept_.clear();
    return out;
  }

  /// Whether a file that is to be removed stays for now; then it is noted.
  bool keeps(const std::string& name) {
    const std::lock_guard guard{mutex_};
    if (holds_ == 0)
      return false;
    kept_.insert(name);
    return true;
  }

private:
  std::shared_mutex changes_;
  std::mutex mutex_; ///< Guards the members below.
  unsigned holds_ = 0;
  /// LevelDB asks for the removal of a file that is still there again after
  /// each compaction, so each is noted once.
  std::set<std::string> kept_;
};

} // namespace weir::storage
