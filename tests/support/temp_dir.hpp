#pragma once

#include <filesystem>
#include <string>

namespace weir::tests {

/// A new, empty directory that is removed with the object.
class temp_dir {
public:
  temp_dir();
  ~temp_dir();
  temp_dir(const temp_dir&) = delete;
  temp_dir& operator=(const temp_dir&) = delete;

  const std::filesystem::path& path() const noexcept { return path_; }

  /// The path of an entry in the directory.
  std::string at(const std::string& name) const {
    return (path_ / name).string();
  }

private:
  std::filesystem::path path_;
};

} // namespace weir::tests
