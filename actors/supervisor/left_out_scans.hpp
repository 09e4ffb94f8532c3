#pragma once

#include "actors/supervisor/listing_census.hpp"
#include "actors/support/upstream_view.hpp"
#include "atproto/identifiers.hpp"
#include "storage/format/records.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace weir::actors {

/// Searches of the rows for repos that a whole listing left out: one page at a
/// time, upstreams in turn, those for whose questions there is no room wait.
///
/// A search that left repos out because there was no room for their questions,
/// or that ended early because its upstream was listed again, is made up for:
/// the next search of this upstream begins there, and ends where it began.
class left_out_scans {
public:
  struct scan {
    uint32_t upstream = 0;
    std::string pds;   ///< The host whose repos these are; empty: a relay's.
    int64_t since = 0; ///< When the listing began, Unix seconds.
    std::shared_ptr<const listing_census> named;
    /// Upstreams that list all they have: beside their listings, what a relay
    /// leaves out of their repos means nothing.
    std::set<uint32_t> listing;
    atproto::did after; ///< The page to read begins after this one.
  };

  /// Whether the listing had to name this repo and did not, so that its host is
  /// to be asked: that of a relay, too, while the host is not heard itself.
  /// @pre `named` is closed
  static bool is_left_out(const scan& x, const atproto::did& repo,
                          const storage::repo_row& row,
                          const upstream_board& board, wall_time now);

  /// Of the upstream that accounts for the repo, when its own position is
  /// stale: the listing would have proved the copy, and its host may do so.
  /// Undefined: there is nothing to prove.
  static position to_prove(const storage::repo_row& row,
                           const upstream_board& board);

  /// Takes the place of the one of an earlier listing.
  void add(scan x);

  /// The one whose page is to be read now, unless one is being read.
  /// @param has_room Whether questions to this host find places.
  std::optional<scan>
  next(const std::function<bool(const std::string& pds)>& has_room);

  /// There was no room for a question about this repo of the page.
  void on_shortage(const atproto::did& repo);

  /// The page was read. @param last The last repo of it.
  void on_page(const atproto::did& last, bool end);

  size_t size() const noexcept {
    return waiting_.size() + (reading_ ? 1 : 0);
  }

private:
  struct search {
    scan at;
    atproto::did begin;
    bool turned = false; ///< It came to the end of the rows, and goes on.
    std::optional<atproto::did> missed; ///< The first one without room.
  };

  std::deque<search> waiting_; ///< One of each upstream at most.
  std::optional<search> reading_;
  std::map<uint32_t, atproto::did> begins_; ///< By upstream: of its next one.
};

} // namespace weir::actors
