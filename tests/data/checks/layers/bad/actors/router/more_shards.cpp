#include <caf/fwd.hpp>

size_t another(uint64_t hash) {
  return hash % shards;
}
