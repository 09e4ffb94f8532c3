#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace weir::sim::heap {

/// Small blocks of memory that were given back, by their size: the next that asks
/// for as many bytes gets the last of them, sooner than malloc would find one.
/// They are as many as ever were there at once, and never go back.
///
/// # Ownership and threads
/// Of one thread. Blocks are malloc's, whoever takes one may free it.
class spare_blocks {
public:
  /// Sizes are multiples of it.
  static constexpr size_t grain = alignof(std::max_align_t);
  static constexpr size_t largest = 1024;

  /// @returns null: there is none of this size
  void* take(size_t size) noexcept {
    if (size > largest)
      return nullptr;
    auto& first = first_[size / grain];
    auto* out = first;
    if (out != nullptr)
      first = out->next;
    return out;
  }

  /// @returns false: it is too large to be kept
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
