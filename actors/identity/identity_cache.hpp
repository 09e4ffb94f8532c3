#pragma once

#include "atproto/identifiers.hpp"
#include "base/error.hpp"
#include "storage/format/records.hpp"

#include <list>
#include <optional>
#include <unordered_map>

namespace weir::actors {

/// The identities that were used last. When there are too many, the one that
/// was unused for longest is dropped. One thread.
class identity_cache {
public:
  struct entry {
    std::optional<storage::identity_row> row;
    std::optional<error> failure; ///< Why there is no row.
    int64_t at = 0;               ///< Unix seconds.
    std::list<atproto::did>::iterator lru{};
  };

  explicit identity_cache(size_t max) : max_(max) {}

  size_t size() const noexcept { return entries_.size(); }

  /// Null when it is not known; otherwise it counts as used.
  const entry* find(const atproto::did& repo) {
    const auto i = entries_.find(repo);
    if (i == entries_.end())
      return nullptr;
    lru_.splice(lru_.begin(), lru_, i->second.lru);
    return &i->second;
  }

  /// The row, if there is one.
  const entry* peek(const atproto::did& repo) const {
    const auto i = entries_.find(repo);
    return i == entries_.end() || !i->second.row ? nullptr : &i->second;
  }

  void put(const atproto::did& repo, std::optional<storage::identity_row> row,
           std::optional<error> failure, int64_t at) {
    auto [i, fresh] = entries_.try_emplace(repo);
    if (fresh)
      i->second.lru = lru_.insert(lru_.begin(), repo);
    i->second = {std::move(row), std::move(failure), at, i->second.lru};
    for (; entries_.size() > max_; lru_.pop_back())
      entries_.erase(lru_.back());
  }

private:
  size_t max_;
  std::unordered_map<atproto::did, entry> entries_;
  std::list<atproto::did> lru_; ///< The most recently used comes first.
};

} // namespace weir::actors
