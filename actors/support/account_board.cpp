#include "actors/support/account_board.hpp"

#include <mutex>

namespace weir::actors {

void account_board::put(const atproto::did& repo, const standing& x) {
  const std::unique_lock guard{mutex_};
  if (x.active && x.erased_through == 0)
    entries_.erase(repo);
  else
    entries_[repo] = x;
}

account_board::standing account_board::of(const atproto::did& repo) const {
  const std::shared_lock guard{mutex_};
  const auto i = entries_.find(repo);
  return i == entries_.end() ? standing{} : i->second;
}

size_t account_board::size() const {
  const std::shared_lock guard{mutex_};
  return entries_.size();
}

} // namespace weir::actors
