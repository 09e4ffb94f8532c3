#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <memory>

namespace weir::atproto {

/// Bytes that are appended and read back at any offset, in memory or in a file.
/// `repo_walk` keeps the CAR in one spool, and in another the part of its block
/// index that does not fit into memory.
///
/// # Ownership and threads
/// One walk at a time uses it, on one thread. Reads and appends may alternate.
class spool {
public:
  virtual ~spool() = default;

  virtual result<void> append(bytes_view chunk) = 0;

  /// Reads exactly `size` bytes at `offset`. They are valid until the next
  /// call.
  virtual result<bytes_view> read(uint64_t offset, size_t size) = 0;

  /// True when reads come from a disk, which may return other bytes than were
  /// written.
  virtual bool on_disk() const noexcept { return false; }
};

/// A spool in memory. Beyond `bytes_max` an append fails with
/// `ec::limit_reached`. Reads do not copy.
std::unique_ptr<spool> make_memory_spool(uint64_t bytes_max);

} // namespace weir::atproto
