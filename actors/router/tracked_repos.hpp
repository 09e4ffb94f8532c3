#pragma once

#include "atproto/identifiers.hpp"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::actors {

/// Hashes of tracked DIDs (`atproto::stable_hash`); a rare false hit wakes a
/// REPO that finds no row and ends.
using tracked_set = std::unordered_set<uint64_t>;

/// Whose frames a shard does not drop: repos that are tracked on disk, and
/// those whose addition is on its way, because their frames come behind it.
/// What is on disk after a failure is not guessed: until the repo's next REPO
/// has read it, all stays as it is. Without CAF; one thread.
class tracked_repos {
public:
  explicit tracked_repos(tracked_set on_disk) : on_disk_(std::move(on_disk)) {
    // nop
  }

  bool contains(const atproto::did& repo) const {
    const auto x = atproto::stable_hash(repo.str());
    return on_disk_.contains(x) || coming_.contains(x);
  }

  /// An addition was sent.
  void begin_addition(const atproto::did& repo) {
    ++coming_[atproto::stable_hash(repo.str())];
  }

  /// It is over, and this is what is on disk.
  void end_addition(const atproto::did& repo, bool tracked) {
    learn(repo, tracked);
    const auto i = coming_.find(atproto::stable_hash(repo.str()));
    if (i != coming_.end() && --i->second == 0)
      coming_.erase(i);
  }

  /// This is what is on disk.
  void learn(const atproto::did& repo, bool tracked) {
    const auto x = atproto::stable_hash(repo.str());
    if (tracked)
      on_disk_.insert(x);
    else
      on_disk_.erase(x);
  }

private:
  tracked_set on_disk_;
  std::unordered_map<uint64_t, size_t> coming_; ///< Additions of each.
};

} // namespace weir::actors
