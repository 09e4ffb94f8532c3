#pragma once

#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/completeness_census.hpp"
#include "base/error.hpp"
#include "messages/account.hpp"
#include "storage/tables/limits.hpp"

#include <functional>
#include <memory>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace weir::actors {

/// One look at all rows: counts which repos are complete, and finds what may
/// help the others (completeness.md). Without CAF, clock or store.
///
/// # Threads
/// One at a time: the READER that has a page, then the SUPERVISOR.
class completeness_look {
public:
  using chain = result<std::shared_ptr<const storage::chain_row>>;

  /// What is known while a page is read.
  struct moment {
    const upstream_board& board;
    std::set<uint32_t> listed; ///< Upstreams whose listings were compared.
    steady_time now;
    wall_time wall;
    /// Reads the chain of a repo, where the row alone does not decide.
    std::function<chain(const atproto::did&)> chain_of;
  };

  /// @param filter The generation of the filter in force.
  explicit completeness_look(uint32_t filter) : filter_(filter) {}

  /// A repo whose chain cannot be read counts as incomplete.
  /// @param rows One page, in the order of DIDs.
  completeness_page
  take(const std::vector<std::pair<atproto::did, storage::repo_row>>& rows,
       const moment& at) {
    completeness_page out;
    std::unordered_map<std::string_view, upstream_view> by_host;
    for (const auto& [repo, row] : rows) {
      // It may have been closed before it was done.
      if (row.identity_due && !(row.gap && completeness::counts(row))
          && out.repos.size() < limits::completeness_due_max)
        out.repos.push_back({repo, row.pds, false, {}});
      if (!completeness::counts(row))
        continue;
      const auto [known, is_first] = by_host.try_emplace(row.pds);
      if (is_first)
        known->second
          = completeness::accounting(at.board, row.pds, at.now, at.wall);
      take_row(repo, row, known->second, at, out);
    }
    if (!rows.empty())
      out.last = rows.back().first;
    out.end = rows.size() < limits::repos_page_max;
    return out;
  }

  completeness_census census;

private:
  void take_row(const atproto::did& repo, const storage::repo_row& row,
                const upstream_view& upstream, const moment& at,
                completeness_page& out) {
    const auto decides = row.last_indexed_rev >= row.first_rev;
    const auto known = decides ? chain{} : at.chain_of(repo);
    const auto terms = completeness::explain(
      row, known ? known->get() : nullptr, upstream, filter_);
    census.add(repo, row, terms);
    if (known)
      find_help(repo, row, terms, upstream, at, out);
    else
      out.unread.push_back({repo, known.error()});
  }

  /// Repos that are not in sync are fetched anyway. These repos are in sync, so
  /// nothing else would notice them.
  static void find_help(const atproto::did& repo, const storage::repo_row& row,
                        const completeness::terms& x,
                        const upstream_view& upstream, const moment& at,
                        completeness_page& out) {
    // The scan of work fetches repos that were fetched under another filter.
    if (x.complete() || !x.synced || !x.filter_current)
      return;
    const auto sees_itself
      = !x.no_gap || !row.last_indexed_rev.defined()
        || (x.first_rev_set && !x.indexed_past_first_rev
            && !completeness::lacks_named_rev(row, at.wall));
    if (sees_itself)
      out.repos.push_back({repo, row.pds, false, {}});
    else if (!(x.position_current && x.first_rev_set) && upstream.live
             && at.listed.contains(upstream.id))
      out.repos.push_back({repo, row.pds, true, upstream.since_reset()});
  }

  uint32_t filter_;
};

} // namespace weir::actors
