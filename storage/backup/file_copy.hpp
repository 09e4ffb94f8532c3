#pragma once

#include "atproto/sha256.hpp"
#include "base/error.hpp"

#include <leveldb/env.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace weir::storage {

class disk_env;

/// Reads the first bytes of a file piece by piece, computes their SHA-256, and
/// copies them durably when there is a place for a copy.
///
/// # Ownership and threads
/// Borrows the disk. One thread. A copy that is not finished stays.
class file_copy {
public:
  /// @param to Empty: the file is only read.
  static result<file_copy> open(disk_env& disk, const std::string& from,
                                uint64_t bytes, const std::string& to);

  /// Does the next piece, of at most `limits::backup_piece_bytes`.
  /// @returns the SHA-256 in hexadecimal digits once all is done and synced;
  /// before that an empty text
  ///
  /// # Errors
  /// `ec::disk_full` or `ec::storage_failure`, also when the file ends early.
  result<std::string> step();

private:
  std::unique_ptr<leveldb::SequentialFile> in_;
  std::unique_ptr<leveldb::WritableFile> out_; ///< Null: only reads.
  std::string name_;
  uint64_t left_ = 0;
  atproto::sha256_stream sum_;
  std::vector<char> scratch_;
};

/// A status of a disk that a backup is on, as an error that says what to do.
error backup_error(const leveldb::Status& x);

} // namespace weir::storage
