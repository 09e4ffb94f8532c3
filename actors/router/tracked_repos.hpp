#pragma once

#include "atproto/identifiers.hpp"

#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace weir::actors {

/// Hashes of tracked DIDs (`atproto::stable_hash`). A rare false match wakes a
/// REPO that finds no row and ends.
using tracked_set = std::unordered_set<uint64_t>;

/// The repos whose frames a shard does not drop: repos that are tracked on
/// disk, and repos whose addition is under way, because their frames come after
/// it. After a failure the content of the disk is not guessed: the state stays
/// as it is until the next REPO has read the row. One thread.
class tracked_repos {
public:
  explicit tracked_repos(tracked_set on_disk) : on_disk_(std::move(on_disk)) {}

  bool contains(const atproto::did& repo) const {
    const auto x = atproto::stable_hash(repo.str());
    return on_disk_.contains(x) || coming_.contains(x);
  }

  /// An addition was sent to a REPO.
  void begin_addition(const atproto::did& repo) {
    ++coming_[atproto::stable_hash(repo.str())];
  }

  /// The addition is over, and `tracked` is what is on disk.
  void end_addition(const atproto::did& repo, bool tracked) {
    learn(repo, tracked);
    const auto i = coming_.find(atproto::stable_hash(repo.str()));
    if (i != coming_.end() && --i->second == 0)
      coming_.erase(i);
  }

  /// `tracked` is what is on disk.
  void learn(const atproto::did& repo, bool tracked) {
    const auto x = atproto::stable_hash(repo.str());
    if (tracked)
      on_disk_.insert(x);
    else
      on_disk_.erase(x);
  }

private:
  tracked_set on_disk_;
  std::unordered_map<uint64_t, size_t> coming_; ///< Open additions of each DID.
};

} // namespace weir::actors
