#include <caf/fwd.hpp>

size_t third(uint64_t key, const places& all) {
  return key % all.partitions();
}

size_t fourth(uint64_t hash) {
  return hash & mask;
}
