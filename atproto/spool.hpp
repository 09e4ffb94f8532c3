#pragma once

#include "base/bytes.hpp"
#include "base/error.hpp"

#include <memory>

namespace weir::atproto {

/// Bytes that are written once, at the end, and read back anywhere: memory or
/// a file. `repo_walk` keeps the CAR it is fed in one, and what does not fit
/// into memory of its block index in another.
///
/// # Ownership and threads
/// Used by one walk at a time, on one thread. Reads and appends alternate.
class spool {
public:
  virtual ~spool() = default;

  virtual result<void> append(bytes_view chunk) = 0;

  /// Exactly `size` bytes at `offset`, valid until the next call.
  virtual result<bytes_view> read(uint64_t offset, size_t size) = 0;

  /// Reads come from a disk, which may give other bytes than it was given.
  virtual bool on_disk() const noexcept { return false; }
};

/// A spool in memory with a bound; more is `ec::limit_reached`. Reads copy
/// nothing.
std::unique_ptr<spool> make_memory_spool(uint64_t bytes_max);

} // namespace weir::atproto
