#include "tests/unit/copies/large_blocks.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>

namespace {

/// Blocks that may contain the mark. It allocates nothing.
class marked_blocks {
public:
  void begin(std::string_view mark) noexcept {
    std::lock_guard guard{mutex_};
    mark_ = mark;
    size_ = gone_ = 0;
  }

  void add(const void* at, size_t bytes) noexcept {
    std::lock_guard guard{mutex_};
    if (mark_.empty())
      return;
    if (size_ == blocks_.size())
      std::abort(); // A test that counts for too long.
    blocks_[size_++] = {static_cast<const char*>(at), bytes};
  }

  void remove(const void* at) noexcept {
    std::lock_guard guard{mutex_};
    for (size_t i = 0; i < size_; ++i)
      if (blocks_[i].data() == at) {
        gone_ += contains_mark(blocks_[i]);
        blocks_[i] = blocks_[--size_];
        return;
      }
  }

  size_t count() noexcept {
    std::lock_guard guard{mutex_};
    auto out = gone_;
    for (size_t i = 0; i < size_; ++i)
      out += contains_mark(blocks_[i]);
    return out;
  }

private:
  bool contains_mark(std::string_view block) const noexcept {
    return block.find(mark_) != block.npos;
  }

  std::mutex mutex_;
  std::string_view mark_;
  std::array<std::string_view, 1'024> blocks_;
  size_t size_ = 0;
  size_t gone_ = 0; ///< Freed blocks that contained the mark.
};

std::atomic<size_t> large_from{SIZE_MAX};
std::atomic<size_t> found{0};
std::atomic<bool> marking{false};
constinit marked_blocks marked;

void* take(size_t bytes) {
  auto* out = std::malloc(bytes == 0 ? 1 : bytes);
  if (out == nullptr)
    throw std::bad_alloc{};
  if (bytes >= large_from) {
    ++found;
    if (marking) {
      std::memset(out, 0, bytes); // A mark may be left of an earlier block.
      marked.add(out, bytes);
    }
  }
  return out;
}

void give_back(void* x) noexcept {
  if (marking)
    marked.remove(x);
  std::free(x);
}

} // namespace

void* operator new(size_t n) {
  return take(n);
}

void* operator new[](size_t n) {
  return take(n);
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

namespace weir::tests {

large_blocks::large_blocks(size_t bytes_min, std::string_view mark) noexcept {
  found = 0;
  marked.begin(mark);
  marking = !mark.empty();
  large_from = bytes_min;
}

large_blocks::~large_blocks() {
  large_from = SIZE_MAX;
  marking = false;
  marked.begin({});
}

size_t large_blocks::count() const noexcept {
  return found;
}

size_t large_blocks::count_marked() const noexcept {
  return marked.count();
}

} // namespace weir::tests
