#pragma once

#include "base/clock.hpp"
#include "base/error.hpp"
#include "storage/disk/safe_env.hpp"
#include "storage/disk/store_identity.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::storage {

class database;

/// The beginning of a file that only grows.
struct captured_file {
  std::string name; ///< Without the directory.
  uint64_t bytes = 0;
};

/// One store at the moment of a capture.
struct captured_store {
  std::string directory;
  store_identity identity;
  std::string current = {};    ///< The content of CURRENT.
  /// The content of NEWEST_LOG; empty: there is none.
  std::string newest_log = {};
  captured_file manifest = {};
  std::vector<captured_file> logs = {};
};

/// The files of all stores of a data directory, as `kill -9` would have left
/// them at one moment. That is enough to copy them later: tables never change,
/// logs and MANIFESTs only grow, and while the capture lives, LevelDB removes
/// none of them.
///
/// # Operation
/// The stores stand still for as long as it takes to list their directories and
/// to read a few small files. No content is read, nothing is synced and no
/// commit is waited for, so the pause does not depend on the size of a store.
///
/// # Ownership and threads
/// It ends before the stores. One thread, and not the one that writes.
class store_capture {
public:
  /// @param stores Open, in the order of partitions.
  /// @param disk The disk that they are on.
  /// @returns `ec::storage_failure` when a store has failed or cannot be
  /// looked at
  static result<store_capture> take(const std::vector<database*>& stores,
                                    disk_env& disk, const clock& time);

  const std::vector<captured_store>& stores() const noexcept {
    return stores_;
  }

  /// For how long nothing was written.
  std::chrono::microseconds pause() const noexcept { return pause_; }

private:
  std::vector<captured_store> stores_;
  std::vector<std::unique_ptr<file_hold>> holds_;
  std::chrono::microseconds pause_{0};
};

} // namespace weir::storage
