#include "actors/support/observed.hpp"

namespace weir::actors {

void actor_directory::add(actor_counters_ptr x) {
  const std::lock_guard guard{mutex_};
  const auto id = x->id;
  entries_[id] = std::move(x);
}

void actor_directory::remove(uint64_t id) {
  const std::lock_guard guard{mutex_};
  entries_.erase(id);
}

std::vector<actor_counters_ptr> actor_directory::all() const {
  const std::lock_guard guard{mutex_};
  std::vector<actor_counters_ptr> out;
  for (const auto& [id, entry] : entries_)
    out.push_back(entry);
  return out;
}

actor_directory& directory() {
  static actor_directory instance;
  return instance;
}

} // namespace weir::actors
