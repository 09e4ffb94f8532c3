#pragma once

#include "atproto/spool.hpp"

#include <string>

namespace weir::storage {

/// A spool that begins in memory and moves to a file when it outgrows
/// `memory_max`. The file has no name, so nothing remains after a crash. It is
/// never synced.
///
/// # Ownership and threads
/// Like `atproto::spool`.
///
/// # Errors
/// `ec::limit_reached` above `bytes_max`; `ec::disk_full` and
/// `ec::storage_failure` from the file.
class file_spool final : public atproto::spool {
public:
  /// @param directory Where the file is created. It must exist.
  file_spool(std::string directory, uint64_t memory_max, uint64_t bytes_max);
  ~file_spool() override;

  file_spool(const file_spool&) = delete;
  file_spool& operator=(const file_spool&) = delete;

  result<void> append(bytes_view chunk) override;

  result<bytes_view> read(uint64_t offset, size_t size) override;

  bool on_disk() const noexcept override { return file_ >= 0; }

private:
  result<void> open_file();
  result<void> write(bytes_view chunk);
  result<void> move_window(uint64_t offset, size_t size);

  std::string directory_;
  uint64_t memory_max_;
  uint64_t bytes_max_;
  uint64_t size_ = 0;
  bytes memory_;
  bytes window_; ///< The part of the file that was read last.
  uint64_t window_at_ = 0;
  int file_ = -1;
};

} // namespace weir::storage
