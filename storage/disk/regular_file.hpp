#pragma once

#include <leveldb/env.h>

#include <string>
#include <utility>

namespace weir::storage {

/// Owns a file descriptor and closes it.
class descriptor {
public:
  explicit descriptor(int number = -1) noexcept : number_(number) {}

  ~descriptor();

  descriptor(descriptor&& x) noexcept : number_(x.release()) {}

  descriptor& operator=(descriptor&& x) noexcept {
    std::swap(number_, x.number_);
    return *this;
  }

  int get() const noexcept { return number_; }

  bool ok() const noexcept { return number_ >= 0; }

  int release() noexcept { return std::exchange(number_, -1); }

private:
  int number_;
};

/// The status for the current `errno`.
leveldb::Status posix_error(const std::string& name);

/// Opens a file of a store. Others may have prepared the name, so links are not
/// followed, and pipes and devices are refused.
/// @param flags The flags of open(2).
leveldb::Status open_regular(const std::string& name, int flags,
                             descriptor& out);

/// Ok also when nothing of this name exists.
leveldb::Status check_regular(const std::string& name);

/// Opens a file for reading from its beginning. A file larger than its kind can
/// be is refused.
leveldb::Status open_sequential(const std::string& name,
                                leveldb::SequentialFile** out);

/// Fails when another user owns a directory or may write to it.
leveldb::Status check_owned(const std::string& directory);

/// Removes access of other users to a directory. Fails when another user owns
/// it.
leveldb::Status make_private(const std::string& directory);

} // namespace weir::storage
