#include "base/process_memory.hpp"

#include "base/limits_heap.hpp"

#include <fstream>
#include <malloc.h>
#include <unistd.h>

namespace weir {

uint64_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  uint64_t all = 0;
  uint64_t resident = 0;
  in >> all >> resident;
  return in ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

void limit_free_memory() {
  mallopt(M_MMAP_THRESHOLD, limits::heap_mapped_bytes_min);
  mallopt(M_TRIM_THRESHOLD, limits::heap_top_bytes_max);
}

void return_free_memory() {
  malloc_trim(0);
}

} // namespace weir
