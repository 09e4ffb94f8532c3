#pragma once

#include "base/error.hpp"

#include <filesystem>

namespace weir::bench {

/// A new directory for one store. It is removed with this object.
///
/// # Ownership and threads
/// A value that can be moved; one thread. What a killed process left is removed
/// by `remove_stale` in a later one.
class scratch_dir {
public:
  scratch_dir() = default;
  ~scratch_dir();
  scratch_dir(scratch_dir&& other) noexcept;
  scratch_dir& operator=(scratch_dir&& other) noexcept;

  /// Makes one in `parent`. Errors: `storage_failure`.
  static result<scratch_dir> make(const std::filesystem::path& parent);

  /// Removes the directories of processes that have ended.
  static void remove_stale(const std::filesystem::path& parent);

  const std::filesystem::path& path() const noexcept { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace weir::bench
