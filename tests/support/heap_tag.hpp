#pragma once

#include <cstdint>

namespace weir::tests {

/// The number of the owner for whom memory is allocated. A program that counts
/// its heap (tests/sim/counting_new.cpp) stores it in each block; other
/// programs ignore it.
using heap_tag = uint16_t;

/// The simulated world and the checker: everything that is not under test.
constexpr heap_tag heap_of_world = 0;
/// Threads without a tag, such as LevelDB's background thread.
constexpr heap_tag heap_of_threads = 1;

inline thread_local heap_tag heap_owner = heap_of_threads;

/// As long as the object lives, memory is allocated for owner `x`.
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
