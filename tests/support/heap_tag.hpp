#pragma once

#include <cstdint>

namespace weir::tests {

/// Whose memory is being asked for, by number. A program that counts its heap
/// (tests/sim/counting_new.cpp) notes it in each block; others ignore it.
using heap_tag = uint16_t;

/// The world's, and the checker's: everything that is not under test.
constexpr heap_tag heap_of_world = 0;
/// Of threads that nobody tagged: LevelDB's work in the background.
constexpr heap_tag heap_of_threads = 1;

inline thread_local heap_tag heap_owner = heap_of_threads;

/// Until its end, memory is asked for by `x`.
class heap_scope {
public:
  explicit heap_scope(heap_tag x) noexcept : before_(heap_owner) {
    heap_owner = x;
  }

  ~heap_scope() { heap_owner = before_; }

  heap_scope(const heap_scope&) = delete;
  heap_scope& operator=(const heap_scope&) = delete;

private:
  heap_tag before_;
};

} // namespace weir::tests
