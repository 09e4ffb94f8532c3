#pragma once

#include "actors/router/limits.hpp"
#include "atproto/identifiers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

namespace weir::actors {

/// Limits how many REPOs are awake because of listings. A line of a listing
/// wakes its REPO, and a REPO whose copy is older than the line states stays
/// awake until the stream has delivered all events, which may take an hour.
/// Therefore each line has a place until it is answered, and each such REPO has
/// one until it knows whether its copy is out of date. The other lines wait in
/// order, and so do the next pages of their listings. No line is dropped.
///
/// The listing with the fewest places goes first. Half of all places are for
/// listings that have less than their share, so that a listing whose stream
/// never catches up does not stop the others. Without CAF or clock; one thread.
template <class Work>
class listing_gate {
public:
  /// @param resident_max REPOs that the shard keeps alive.
  explicit listing_gate(size_t resident_max)
    : places_(std::max<size_t>(resident_max / limits::undecided_part, 1)),
      share_(std::max<size_t>(places_ / limits::listing_upstream_part, 1)) {}

  void add(uint32_t upstream, Work line) {
    listings_[upstream].waiting.push_back(std::move(line));
  }

  /// The next line that may go to its REPO.
  std::optional<Work> next() {
    listing* best = nullptr;
    for (auto& [upstream, x] : listings_)
      if (!x.waiting.empty() && (best == nullptr || x.held < best->held))
        best = &x;
    if (best == nullptr || held_ >= places_
        || (2 * held_ >= places_ && best->held >= share_))
      return std::nullopt;
    auto out = std::move(best->waiting.front());
    best->waiting.pop_front();
    ++best->held;
    ++held_;
    return out;
  }

  /// A line of this listing was answered.
  void answered(uint32_t upstream) {
    const auto i = listings_.find(upstream);
    if (i == listings_.end())
      return;
    --held_;
    if (--i->second.held == 0 && i->second.waiting.empty())
      listings_.erase(i);
  }

  /// A REPO stays awake because of this listing, and no longer of another.
  void keep_awake(const atproto::did& repo, uint32_t upstream) {
    release(repo);
    awake_.emplace(repo, upstream);
    ++listings_[upstream].held;
    ++held_;
  }

  /// The REPO no longer stays awake because of a listing, or has ended.
  void release(const atproto::did& repo) {
    if (const auto x = awake_.extract(repo))
      answered(x.mapped());
  }

  void clear() {
    listings_.clear();
    awake_.clear();
    held_ = 0;
  }

private:
  struct listing {
    std::deque<Work> waiting;
    /// Its lines under way, and REPOs that stay awake because of it.
    size_t held = 0;
  };

  size_t places_;
  size_t share_;
  size_t held_ = 0; ///< The sum of `held` over all listings.
  std::map<uint32_t, listing> listings_;
  std::unordered_map<atproto::did, uint32_t> awake_;
};

} // namespace weir::actors
