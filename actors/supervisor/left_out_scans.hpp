#pragma once

#include "actors/support/completeness.hpp"
#include "actors/support/upstream_view.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace weir::actors {

/// Records which repos a listing named, to find those that it left out.
///
/// Keeps hashes of DIDs, at most `most`. When there are more, the census halves
/// the part of all DIDs that it watches, and makes no statement about the
/// others. The next listing, with another `turn`, watches another part.
class listing_census {
public:
  listing_census(size_t most, uint64_t turn) : most_(most), turn_(turn) {}

  void add(uint64_t did_hash) {
    if (!watches(did_hash))
      return;
    if (seen_.size() >= most_)
      compact();
    if (watches(did_hash))
      seen_.push_back(did_hash);
  }

  /// The listing is complete. Call this before `left_out`.
  void close() { std::sort(seen_.begin(), seen_.end()); }

  /// @pre `close` was called
  bool left_out(uint64_t did_hash) const {
    return watches(did_hash)
           && !std::binary_search(seen_.begin(), seen_.end(), did_hash);
  }

  size_t size() const noexcept { return seen_.size(); }

private:
  bool watches(uint64_t did_hash) const noexcept {
    return ((did_hash ^ turn_) & mask_) == 0;
  }

  /// A DID may stand on two pages, so duplicates go first. If there are still
  /// too many, half of the DIDs must go.
  void compact() {
    std::sort(seen_.begin(), seen_.end());
    seen_.erase(std::unique(seen_.begin(), seen_.end()), seen_.end());
    while (seen_.size() >= most_) {
      mask_ = mask_ * 2 + 1;
      std::erase_if(seen_, [this](uint64_t x) {
        return !watches(x);
      });
    }
  }

  size_t most_;
  uint64_t turn_;
  uint64_t mask_ = 0;
  std::vector<uint64_t> seen_;
};

/// Whether a listing should have named this repo. A repo that is being fetched
/// for the first time, or was fetched since the listing began, is known better
/// from the fetch.
/// @param since When the listing began, in Unix seconds.
inline bool should_be_listed(const storage::repo_row& row, int64_t since,
                             wall_time now) {
  const auto comes = row.account == storage::account_status::active
                     && !row.last_indexed_rev.defined();
  // A time ahead of now was written while the clock was wrong.
  const auto fetched_since
    = row.last_sync >= since && row.last_sync <= now.seconds();
  return !comes && row.account != storage::account_status::deleted
         && !fetched_since && !row.pds.empty();
}

/// Searches the rows for repos that a complete listing left out: one page at a
/// time, upstreams in turn. An upstream waits until its questions have room.
///
/// A search may leave repos out because there was no room for their questions,
/// or end early because its upstream was listed again. The next search of this
/// upstream then begins there, and ends where it began.
class left_out_scans {
public:
  struct scan {
    uint32_t upstream = 0;
    std::string pds;   ///< The host whose repos these are; empty for a relay.
    int64_t since = 0; ///< When the listing began, in Unix seconds.
    std::shared_ptr<const listing_census> named;
    /// Upstreams that list everything they have. A repo that such an upstream
    /// lists proves nothing by its absence from a relay's listing.
    std::set<uint32_t> listing;
    atproto::did after; ///< The next page begins after this DID.
  };

  /// Whether the listing should have named this repo and did not, so that its
  /// host is to be asked. This applies to a relay's listing, too, as long as
  /// the host is not followed itself.
  /// @pre `named` is closed
  static bool is_left_out(const scan& x, const atproto::did& repo,
                          const storage::repo_row& row,
                          const upstream_board& board, wall_time now) {
    return should_be_listed(row, x.since, now)
           && board.speaks_for(row.pds, x.upstream, &x.listing)
           && x.named->left_out(atproto::stable_hash(repo.str()));
  }

  /// @returns the position of the upstream that accounts for the repo, if that
  /// of the copy is stale: the listing would have proved the copy, and now the
  /// host may do so. Undefined: there is nothing to prove.
  static position to_prove(const storage::repo_row& row,
                           const upstream_board& board) {
    if (!completeness::counts(row)
        || row.status != storage::repo_status::synced)
      return {};
    const auto needed = board.accounting_for(row.pds).since_reset();
    return needed.defined() && !row.fcsr.covers(needed) ? needed : position{};
  }

  /// Adds a search, in place of that for an earlier listing of the upstream.
  void add(scan x) {
    const auto replace = [&](const search& old) {
      if (old.at.upstream != x.upstream)
        return false;
      begins_[x.upstream] = old.missed.value_or(old.at.after);
      return true;
    };
    if (reading_)
      replace(*reading_);
    std::erase_if(waiting_, replace);
    search next;
    if (const auto i = begins_.find(x.upstream); i != begins_.end())
      next.begin = i->second;
    x.after = next.begin;
    next.at = std::move(x);
    waiting_.push_back(std::move(next));
  }

  /// The search whose page is to be read now; none while a page is being read.
  /// @param has_room Whether questions to this host find places.
  std::optional<scan>
  next(const std::function<bool(const std::string& pds)>& has_room) {
    if (reading_)
      return std::nullopt;
    const auto i = std::ranges::find_if(
      waiting_, [&](const search& x) { return has_room(x.at.pds); });
    if (i == waiting_.end())
      return std::nullopt;
    reading_ = std::move(*i);
    waiting_.erase(i);
    return reading_->at;
  }

  /// There was no room for the question about this repo of the page.
  void on_shortage(const atproto::did& repo) {
    if (!reading_->missed)
      reading_->missed = repo;
  }

  /// The page was read.
  /// @param last The last repo of it.
  void on_page(const atproto::did& last, bool end) {
    auto x = std::move(*std::exchange(reading_, std::nullopt));
    const auto is_newer = [&](const search& y) {
      return y.at.upstream == x.at.upstream;
    };
    if (std::ranges::any_of(waiting_, is_newer))
      return;
    x.at.after = last;
    const auto whole
      = x.turned ? end || last >= x.begin : end && x.begin.empty();
    if (whole) {
      begins_.erase(x.at.upstream);
      if (x.missed)
        begins_[x.at.upstream] = *x.missed;
      return;
    }
    if (end) {
      x.turned = true;
      x.at.after = {};
    }
    waiting_.push_back(std::move(x));
  }

  size_t size() const noexcept { return waiting_.size() + (reading_ ? 1 : 0); }

private:
  struct search {
    scan at;
    atproto::did begin;
    /// The search reached the end of the rows and goes on from the first row.
    bool turned = false;
    std::optional<atproto::did> missed; ///< The first repo without room.
  };

  std::deque<search> waiting_; ///< At most one for each upstream.
  std::optional<search> reading_;
  /// The place where the next search of each upstream begins.
  std::map<uint32_t, atproto::did> begins_;
};

} // namespace weir::actors
