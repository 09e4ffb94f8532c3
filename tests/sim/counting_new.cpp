// The heap of the program weir-sim. Each block is preceded by its length and
// its owner (tests/sim/heap_census.hpp). Small blocks that were freed are kept
// for later allocations, except with a sanitizer or MALLOC_PERTURB_.

#include "tests/sim/heap_census.hpp"
#include "tests/sim/spare_blocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

struct block_head {
  uint64_t bytes;
  uint32_t offset; ///< Distance from the start of malloc's block.
  weir::sim::heap::heap_tag owner;
};

static_assert(sizeof(block_head) == 16);

constexpr size_t plain = weir::sim::heap::spare_blocks::grain;

/// The size with the header, rounded up so that the next block is aligned.
size_t whole_size(size_t bytes, size_t offset, size_t alignment) noexcept {
  return (bytes + offset + alignment - 1) / alignment * alignment;
}

// Only the simulating thread has spare blocks. They are not used in builds that
// detect the use of freed blocks.
constinit weir::sim::heap::spare_blocks spares;
#if defined(__SANITIZE_ADDRESS__)
const bool keeps_spares = false;
#else
const bool keeps_spares = std::getenv("MALLOC_PERTURB_") == nullptr;
#endif

bool has_spares() noexcept {
  return keeps_spares && weir::sim::heap::is_simulator();
}

void* find(size_t whole, size_t alignment) noexcept {
  if (alignment > plain)
    return std::aligned_alloc(alignment, whole);
  auto* spare = has_spares() ? spares.take(whole) : nullptr;
  return spare != nullptr ? spare : std::malloc(whole);
}

void* take(size_t bytes, size_t at_least) noexcept {
  const auto alignment = std::max(at_least, plain);
  const auto offset = std::max(alignment, sizeof(block_head));
  auto* start = static_cast<char*>(
    find(whole_size(bytes, offset, alignment), alignment));
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
  auto* start = block - head.offset;
  const auto is_kept
    = head.offset == sizeof(block_head) && has_spares()
      && spares.give(start, whole_size(head.bytes, head.offset, plain));
  if (!is_kept)
    std::free(start);
}

} // namespace

/// Replaces malloc's function, which nodes call whenever they have become
/// smaller: the next node would request the same pages from the kernel again.
extern "C" int malloc_trim(size_t) noexcept {
  return 0;
}

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
