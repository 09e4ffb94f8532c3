#include <caf/fwd.hpp>

size_t one(const did& repo) {
  return stable_hash(repo.str())
         % shared->count();
}
