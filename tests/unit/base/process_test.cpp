#include "base/process.hpp"

#include "base/limits.hpp"
#include "tests/support/temp_dir.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <memory>
#include <string>
#include <vector>

// architecture.md, When memory runs short: freed memory is returned to the
// system.
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

namespace {

/// Writes a file below `root` and makes the folders that it needs.
void put(const std::filesystem::path& root, const std::string& path,
         const std::string& text) {
  std::filesystem::create_directories((root / path).parent_path());
  std::ofstream{root / path} << text;
}

} // namespace

// The smallest limit counts: that of the machine, of its group, or of a group
// above.
TEST(MemoryBytesMaxTest, IsThatOfTheMachineOrOfAGroup) {
  const tests::temp_dir dir;
  const std::filesystem::path root{dir.path()};
  EXPECT_EQ(memory_bytes_max(root), 0u) << "the system does not tell";
  put(root, "proc/meminfo", "MemTotal:        2048 kB\nMemFree: 1 kB\n");
  EXPECT_EQ(memory_bytes_max(root), 2'097'152u);
  put(root, "proc/self/cgroup", "1:name=systemd:/x\n0::/system.slice/weir.service\n");
  put(root, "sys/fs/cgroup/system.slice/weir.service/memory.max", "max\n");
  EXPECT_EQ(memory_bytes_max(root), 2'097'152u);
  put(root, "sys/fs/cgroup/system.slice/memory.max", "1048576\n");
  EXPECT_EQ(memory_bytes_max(root), 1'048'576u);
  put(root, "sys/fs/cgroup/system.slice/weir.service/memory.max", "4096\n");
  EXPECT_EQ(memory_bytes_max(root), 4'096u);
  put(root, "proc/self/cgroup", "0::/\n");
  EXPECT_EQ(memory_bytes_max(root), 2'097'152u);
  put(root, "sys/fs/cgroup/memory.max", "8192\n");
  EXPECT_EQ(memory_bytes_max(root), 8'192u) << "a container sees its own group";
  EXPECT_GT(memory_bytes_max(), 0u);
}

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

// limits::heap_top_bytes_max; freeing a large block would raise it
TEST_F(ProcessMemoryTest, OfTheEndOfAHeapSoMuchIsKept) {
  constexpr size_t size = 65'536;
  constexpr size_t most = limits::heap_top_bytes_max;
  const auto use = [](size_t bytes) {
    std::vector<block> blocks(bytes / size);
    for (auto& x : blocks)
      x = allocate(size);
  };
  allocate(16 * limits::heap_mapped_bytes_min).reset();
  use(16 * most);
  EXPECT_LE(mallinfo2().keepcost, most);
  use(most - most / 4);
  EXPECT_LE(mallinfo2().keepcost, most);
  EXPECT_GE(mallinfo2().keepcost, most / 2) << "128 KiB by glibc's default";
}

} // namespace weir
