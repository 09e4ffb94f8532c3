// The heap of the program weir-sim: before each block stands how long it is and
// who asked for it (tests/sim/heap_census.hpp).

#include "tests/sim/heap_census.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

struct block_head {
  uint64_t bytes;
  uint32_t offset; ///< From the start of what malloc gave.
  weir::sim::heap::heap_tag owner;
};

static_assert(sizeof(block_head) == 16);

void* take(size_t bytes, size_t alignment) noexcept {
  const auto offset = std::max(alignment, sizeof(block_head));
  const auto whole = (bytes + offset + alignment - 1) / alignment * alignment;
  auto* start = static_cast<char*>(alignment <= alignof(std::max_align_t)
                                     ? std::malloc(whole)
                                     : std::aligned_alloc(alignment, whole));
  if (start == nullptr)
    return nullptr;
  auto* out = start + offset;
  new (out - sizeof(block_head))
    block_head{bytes, static_cast<uint32_t>(offset),
               weir::sim::heap::gain(bytes)};
  return out;
}

void* take_or_throw(size_t bytes, size_t alignment) {
  auto* out = take(bytes, alignment);
  if (out == nullptr)
    throw std::bad_alloc{};
  return out;
}

void give_back(void* x) noexcept {
  if (x == nullptr)
    return;
  auto* block = static_cast<char*>(x);
  const auto head = *reinterpret_cast<block_head*>(block - sizeof(block_head));
  weir::sim::heap::lose(head.owner, head.bytes);
  std::free(block - head.offset);
}

constexpr size_t plain = alignof(std::max_align_t);

} // namespace

void* operator new(size_t n) {
  return take_or_throw(n, plain);
}

void* operator new[](size_t n) {
  return take_or_throw(n, plain);
}

void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return take(n, plain);
}

void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return take(n, plain);
}

void* operator new(size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<size_t>(a));
}

void* operator new[](size_t n, std::align_val_t a) {
  return take_or_throw(n, static_cast<size_t>(a));
}

void* operator new(size_t n, std::align_val_t a,
                   const std::nothrow_t&) noexcept {
  return take(n, static_cast<size_t>(a));
}

void* operator new[](size_t n, std::align_val_t a,
                     const std::nothrow_t&) noexcept {
  return take(n, static_cast<size_t>(a));
}

void operator delete(void* x) noexcept {
  give_back(x);
}

void operator delete[](void* x) noexcept {
  give_back(x);
}

void operator delete(void* x, size_t) noexcept {
  give_back(x);
}

void operator delete[](void* x, size_t) noexcept {
  give_back(x);
}

void operator delete(void* x, const std::nothrow_t&) noexcept {
  give_back(x);
}

void operator delete[](void* x, const std::nothrow_t&) noexcept {
  give_back(x);
}

void operator delete(void* x, std::align_val_t) noexcept {
  give_back(x);
}

void operator delete[](void* x, std::align_val_t) noexcept {
  give_back(x);
}

void operator delete(void* x, size_t, std::align_val_t) noexcept {
  give_back(x);
}

void operator delete[](void* x, size_t, std::align_val_t) noexcept {
  give_back(x);
}

void operator delete(void* x, std::align_val_t,
                     const std::nothrow_t&) noexcept {
  give_back(x);
}

void operator delete[](void* x, std::align_val_t,
                       const std::nothrow_t&) noexcept {
  give_back(x);
}
