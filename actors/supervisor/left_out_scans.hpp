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

/// Searches the rows for repos that a complete listing left out: one page at a
/// time, upstreams in turn. An upstream waits while there is no room for its
/// questions.
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
                          const upstream_board& board, wall_time now);

  /// When the position of the copy is stale: the position of the upstream that
  /// accounts for the repo. The listing would have proved the copy, and now the
  /// host may do so. Undefined: there is nothing to prove.
  static position to_prove(const storage::repo_row& row,
                           const upstream_board& board);

  /// Adds a search. It replaces the search of an earlier listing of the
  /// upstream.
  void add(scan x);

  /// The search whose page is to be read now; none while a page is being read.
  /// @param has_room Whether questions to this host find places.
  std::optional<scan>
  next(const std::function<bool(const std::string& pds)>& has_room);

  /// There was no room for the question about this repo of the page.
  void on_shortage(const atproto::did& repo);

  /// The page was read.
  /// @param last The last repo of it.
  void on_page(const atproto::did& last, bool end);

  size_t size() const noexcept {
    return waiting_.size() + (reading_ ? 1 : 0);
  }

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
  /// By upstream: where its next search begins.
  std::map<uint32_t, atproto::did> begins_;
};

} // namespace weir::actors
