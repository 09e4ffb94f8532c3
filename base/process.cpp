#include "base/process.hpp"

#include "base/limits.hpp"

#include <algorithm>
#include <fstream>
#include <malloc.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace weir {

namespace {

uint64_t machine_bytes(const std::string& root) {
  std::ifstream in{root + "/proc/meminfo"};
  std::string name;
  uint64_t kilobytes = 0;
  in >> name >> kilobytes;
  return in && name == "MemTotal:" ? kilobytes * 1'024 : 0;
}

/// The control group of this process, such as "/system.slice/weir.service".
std::string group_of(const std::string& root) {
  constexpr std::string_view unified = "0::";
  std::ifstream in{root + "/proc/self/cgroup"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(unified))
      return line.substr(unified.size());
  return {};
}

} // namespace

uint64_t resident_bytes() {
  std::ifstream in{"/proc/self/statm"};
  uint64_t all = 0;
  uint64_t resident = 0;
  in >> all >> resident;
  return in ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t memory_bytes_max(const std::string& root) {
  auto out = machine_bytes(root);
  for (auto group = group_of(root); !group.empty();
       group.resize(group.rfind('/'))) {
    std::ifstream in{root + "/sys/fs/cgroup" + group + "/memory.max"};
    if (uint64_t most = 0; in >> most) // It may say "max".
      out = out == 0 ? most : std::min(out, most);
    if (group.rfind('/') == std::string::npos)
      break;
  }
  return out;
}

void limit_free_memory() {
  mallopt(M_MMAP_THRESHOLD, limits::heap_mapped_bytes_min);
  mallopt(M_TRIM_THRESHOLD, limits::heap_top_bytes_max);
}

void return_free_memory() {
  malloc_trim(0);
}

void name_thread(const char* name) noexcept {
  prctl(PR_SET_NAME, name, 0, 0, 0);
}

} // namespace weir
