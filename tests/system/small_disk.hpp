#pragma once

#include <gtest/gtest.h>

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <utility>
#include <vector>

// A file system that is really full, and what fills it.

namespace weir::tests {

/// A file system of its own for this process and its children, if the system
/// permits it.
class small_disk {
public:
  small_disk(const std::string& at, const char* options) : at_(at) {
    std::filesystem::create_directory(at);
    const auto uid = getuid();
    if (unshare(CLONE_NEWNS) != 0) {
      if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
        return;
      std::ofstream{"/proc/self/uid_map"} << "0 " << uid << " 1";
    }
    mounted_ = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0
               && mount("small", at.c_str(), "tmpfs", 0, options) == 0;
  }

  ~small_disk() {
    if (mounted_)
      umount2(at_.c_str(), MNT_DETACH);
  }

  small_disk(const small_disk&) = delete;
  small_disk& operator=(const small_disk&) = delete;

  bool mounted() const noexcept { return mounted_; }
  const std::string& at() const noexcept { return at_; }

private:
  std::string at_;
  bool mounted_ = false;
};

/// Files of other programs on the same disk.
class ballast {
public:
  explicit ballast(std::string directory)
    : directory_(std::move(directory)), name_(directory_ + "/ballast") {
    // nop
  }

  /// Grows until at most `free` bytes are left. It writes data, because an
  /// allocation that does not fit is undone as a whole.
  void leave(uint64_t free) {
    const int file = open(name_.c_str(),
                          O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
    const std::vector<char> piece(4'096);
    struct statvfs x {};
    while (statvfs(directory_.c_str(), &x) == 0
           && x.f_bavail * x.f_frsize > free
           && write(file, piece.data(), piece.size()) > 0) {
    }
    close(file);
  }

  void shrink(int64_t bytes) {
    struct stat x {};
    ASSERT_EQ(stat(name_.c_str(), &x), 0);
    ASSERT_EQ(truncate(name_.c_str(), x.st_size - bytes), 0);
  }

  void go() {
    unlink(name_.c_str());
  }

private:
  std::string directory_;
  std::string name_;
};

/// Empty files of other programs: they take inodes and no bytes.
class crowd_of_files {
public:
  explicit crowd_of_files(std::string directory)
    : directory_(std::move(directory)) {
    // nop
  }

  /// Grows until there is no inode left.
  void grow() {
    for (;; ++count_) {
      const int file
        = open(name(count_).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
      if (file < 0)
        return;
      close(file);
    }
  }

  void go() {
    while (count_ > 0)
      unlink(name(--count_).c_str());
  }

private:
  std::string name(size_t i) const {
    return directory_ + "/empty-" + std::to_string(i);
  }

  std::string directory_;
  size_t count_ = 0;
};

} // namespace weir::tests
