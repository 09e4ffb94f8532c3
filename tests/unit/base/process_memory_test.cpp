#include "base/limits_heap.hpp"
#include "base/process_memory.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <vector>

// reliability.md P9: what is freed goes back to the machine.
namespace weir {
namespace {

struct releases {
  void operator()(void* x) const { std::free(x); }
};

using block = std::unique_ptr<void, releases>;

block allocate(size_t bytes) {
  return block{std::malloc(bytes)};
}

} // namespace

class ProcessMemoryTest : public testing::Test {
protected:
  void SetUp() override {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "the sanitizer has an allocator of its own";
#endif
    limit_free_memory();
  }
};

// limits::heap_mapped_bytes_min, and less: the header of a block counts, too
TEST_F(ProcessMemoryTest, LargeBlocksGoBackAlone) {
  const auto before = mallinfo2().hblks;
  const auto less = allocate(limits::heap_mapped_bytes_min - 64);
  EXPECT_EQ(mallinfo2().hblks, before);
  auto large = allocate(limits::heap_mapped_bytes_min);
  EXPECT_EQ(mallinfo2().hblks, before + 1);
  large.reset();
  EXPECT_EQ(mallinfo2().hblks, before);
}

// limits::heap_top_bytes_max; a large block that was freed would raise it
TEST_F(ProcessMemoryTest, OfTheEndOfAHeapLittleIsKept) {
  constexpr size_t size = 65'536;
  allocate(16 * limits::heap_mapped_bytes_min).reset();
  std::vector<block> blocks;
  for (size_t i = 0; i < 16 * limits::heap_top_bytes_max / size; ++i)
    blocks.push_back(allocate(size));
  blocks.clear();
  EXPECT_LE(mallinfo2().keepcost,
            static_cast<size_t>(limits::heap_top_bytes_max));
}

} // namespace weir
