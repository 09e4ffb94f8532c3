#pragma once

#include <cstddef>

namespace weir::tests {

/// Counts the large blocks of memory that all threads of the program allocate
/// while it exists. A copy of large data needs a block of its size, so this
/// counts copies.
class large_blocks {
public:
  /// @param bytes_min The smallest size that counts as large.
  explicit large_blocks(size_t bytes_min) noexcept;
  ~large_blocks();
  large_blocks(const large_blocks&) = delete;
  large_blocks& operator=(const large_blocks&) = delete;

  size_t count() const noexcept;
};

} // namespace weir::tests
