#pragma once

#include <cstddef>
#include <string_view>

namespace weir::tests {

/// Counts the large blocks of memory that all threads of the program allocate
/// while it exists. A copy of large data needs a block of its size, so this
/// counts copies. Copies of small data are counted by a mark in them: the
/// blocks that contain it.
class large_blocks {
public:
  /// @param bytes_min The smallest size that counts as large.
  /// @param mark Looked for in large blocks; empty when none is. It has to
  /// outlive this object.
  explicit large_blocks(size_t bytes_min, std::string_view mark = {}) noexcept;
  ~large_blocks();
  large_blocks(const large_blocks&) = delete;
  large_blocks& operator=(const large_blocks&) = delete;

  size_t count() const noexcept;

  /// The blocks that contain the mark now, or did when they were freed.
  size_t count_marked() const noexcept;
};

} // namespace weir::tests
