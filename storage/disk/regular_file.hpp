#pragma once

#include <leveldb/env.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace weir::storage {

/// Closes what it holds.
class descriptor {
public:
  explicit descriptor(int number = -1) noexcept : number_(number) {
    // nop
  }

  ~descriptor();

  descriptor(descriptor&& x) noexcept : number_(x.release()) {
    // nop
  }

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

/// What `errno` says, at once.
leveldb::Status posix_error(const std::string& name);

/// Opens a file of a store: a link that others may have laid is not followed,
/// and a pipe or device, which may have no end, is not read.
/// @param flags Of open(2).
leveldb::Status open_regular(const std::string& name, int flags,
                             descriptor& out);

/// Ok as well when there is nothing of this name.
leveldb::Status check_regular(const std::string& name);

/// Reads from the begin; a file that is longer than its kind may be is refused.
leveldb::Status open_sequential(const std::string& name,
                                leveldb::SequentialFile** out);

/// Makes a directory its owner's alone. Not ok when that is somebody else.
leveldb::Status make_private(const std::string& directory);

} // namespace weir::storage
