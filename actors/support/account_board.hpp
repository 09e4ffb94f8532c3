#pragma once

#include "atproto/identifiers.hpp"
#include "storage/format/records.hpp"

#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace weir::actors {

/// Accounts whose events must not be delivered as they stand in the log:
/// inactive accounts, and those erased up to some operation. All others have no
/// entry. The board is filled from the rows at start, then by the JOURNAL
/// before an update is announced. CONSUMERs read it before every event.
///
/// # Threads
/// Any; readers do not block each other.
class account_board {
public:
  struct standing {
    bool active = true;
    storage::op_id erased_through = 0;
    storage::account_status account = storage::account_status::active;
  };

  void put(const atproto::did& repo, const standing& x) {
    const std::unique_lock guard{mutex_};
    if (x.active && x.erased_through == 0)
      entries_.erase(repo);
    else
      entries_[repo] = x;
  }

  standing of(const atproto::did& repo) const {
    const std::shared_lock guard{mutex_};
    const auto i = entries_.find(repo);
    return i == entries_.end() ? standing{} : i->second;
  }

  size_t size() const {
    const std::shared_lock guard{mutex_};
    return entries_.size();
  }

private:
  mutable std::shared_mutex mutex_;
  std::unordered_map<atproto::did, standing> entries_;
};

} // namespace weir::actors
