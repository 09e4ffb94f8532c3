#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace weir::sim::heap {

/// Free lists of small blocks of memory, by size. An allocation of the same
/// size takes the last block that was freed, which is faster than malloc. The
/// lists grow to the largest number that was free at once and never shrink.
///
/// # Ownership and threads
/// Used by one thread. Blocks come from malloc, so any owner may free them.
class spare_blocks {
public:
  /// Sizes are rounded up to multiples of this.
  static constexpr size_t grain = alignof(std::max_align_t);
  static constexpr size_t largest = 1024;

  /// @returns null when there is no block of this size
  void* take(size_t size) noexcept {
    if (size > largest)
      return nullptr;
    auto& first = first_[size / grain];
    auto* out = first;
    if (out != nullptr)
      first = out->next;
    return out;
  }

  /// @returns false when the block is too large to be kept
  bool give(void* block, size_t size) noexcept {
    if (size > largest)
      return false;
    auto& first = first_[size / grain];
    first = new (block) spare{first};
    return true;
  }

private:
  struct spare {
    spare* next;
  };

  std::array<spare*, largest / grain + 1> first_{};
};

} // namespace weir::sim::heap
