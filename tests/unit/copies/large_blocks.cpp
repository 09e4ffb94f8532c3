#include "tests/unit/copies/large_blocks.hpp"

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> large_from{SIZE_MAX};
std::atomic<size_t> found{0};

void* take(size_t bytes) {
  if (bytes >= large_from)
    ++found;
  auto* out = std::malloc(bytes == 0 ? 1 : bytes);
  if (out == nullptr)
    throw std::bad_alloc{};
  return out;
}

} // namespace

void* operator new(size_t n) {
  return take(n);
}

void* operator new[](size_t n) {
  return take(n);
}

void operator delete(void* x) noexcept {
  std::free(x);
}

void operator delete[](void* x) noexcept {
  std::free(x);
}

void operator delete(void* x, size_t) noexcept {
  std::free(x);
}

void operator delete[](void* x, size_t) noexcept {
  std::free(x);
}

namespace weir::tests {

large_blocks::large_blocks(size_t bytes_min) noexcept {
  found = 0;
  large_from = bytes_min;
}

large_blocks::~large_blocks() {
  large_from = SIZE_MAX;
}

size_t large_blocks::count() const noexcept {
  return found;
}

} // namespace weir::tests
