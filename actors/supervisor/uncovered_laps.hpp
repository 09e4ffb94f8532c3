#pragma once

#include "actors/supervisor/limits_uncovered.hpp"
#include "actors/support/upstream_view.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "storage/format/limits.hpp"
#include "storage/format/records.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace weir::actors {

/// Whether somebody has to ask about this repo: no event and no listing shows
/// that its host has something newer. One that is to be fetched is not asked
/// about, the fetch tells; nor is one that is gone for good. What the directory
/// alone says to be gone may be there.
bool is_asked_about(const storage::repo_row& row) noexcept;

/// Whether what its host said of a repo differs from what is stored.
bool is_news_of_host(const std::string& pds, storage::account_status account,
                     atproto::tid rev, const storage::repo_row& row,
                     const storage::chain_row* chain);

/// When the rows are searched for repos that no upstream covers, and about
/// which of them their hosts are asked: all rows once in an interval, a page at
/// a time. Without CAF, clock or store.
///
/// A lap that had no room for some questions is made up for: the next one
/// begins with the first of those repos, and ends where it began.
///
/// # Limits
/// Of one host about `limits::uncovered_asked_per_host` an hour, and never
/// `limits::uncovered_burst` times as many. When it has more, each lap asks
/// about another part of them, so that each has its turn. Memory is the same
/// however many repos there are.
class uncovered_laps {
public:
  struct page {
    atproto::did after;
    atproto::did until; ///< The last row of the lap; empty: the last of all.
  };

  explicit uncovered_laps(std::chrono::seconds interval);

  /// The node begins. @param draw Any number.
  void start(steady_time now, uint64_t draw);

  /// The page that is to be read now.
  /// @param all_covered A relay is followed that leaves nobody out: there is
  /// nothing to search.
  std::optional<page> next(steady_time now, uint64_t draw, bool all_covered);

  /// Counts one that no upstream covers, in the order of the page.
  /// @returns whether its host is to be asked about it now.
  bool take(const atproto::did& repo, const storage::repo_row& row);

  /// There was no room for the question about the one that was taken last.
  void on_shortage();

  /// The page was taken. @param last The last row that was looked at.
  void on_page(const atproto::did& last, bool end, bool asked,
               steady_time now);

  /// It could not be read: the rest waits for the next lap.
  void on_failure();

  /// When `next` has something to say that it did not say before.
  std::optional<steady_time> due() const;

  /// A lap is under way.
  bool runs() const noexcept { return runs_; }

  /// Repos that no upstream covers, as the last whole lap found them.
  const std::optional<uint64_t>& found() const noexcept { return found_; }

private:
  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  void begin(steady_time now, uint64_t draw);
  void finish(steady_time now);

  std::chrono::microseconds interval_;
  uint32_t per_host_; ///< In a lap, on average.
  bool runs_ = false;
  bool reading_ = false;
  steady_time due_; ///< Of the next page while it runs, else of the next lap.
  steady_time next_lap_;
  bool turned_ = false; ///< It came to the end of the rows, and goes on.
  atproto::did begin_;
  atproto::did after_;
  atproto::did current_;               ///< The row that was taken last,
  atproto::did previous_;              ///< and the one before it.
  std::optional<atproto::did> missed_; ///< Behind it the first without room.
  uint64_t lap_ = 0;
  uint64_t count_ = 0;
  std::optional<uint64_t> found_;
  std::unique_ptr<counts> before_ = std::make_unique<counts>();
  std::unique_ptr<counts> now_ = std::make_unique<counts>();
  std::unique_ptr<counts> asked_ = std::make_unique<counts>();
};

/// The part of `rows`, which follow `at.after` in the store, that belongs to
/// the page: until there are enough repos for their questions.
/// @param out Has `repos`, `last` and `end`.
template <class Rows, class Page>
void pick_uncovered(const Rows& rows, const upstream_board& followed,
                    const uncovered_laps::page& at, Page& out) {
  out.last = at.after;
  for (const auto& [repo, row] : rows) {
    out.end = !at.until.empty() && repo > at.until;
    if (out.end || out.repos.size() >= limits::uncovered_page_max)
      return;
    out.last = repo;
    const auto by = followed.accounting_for(row.pds).id;
    if (!row.pds.empty() && (by == 0 || by == row.left_out_by))
      out.repos.push_back({repo, row});
  }
  out.end = rows.size() < limits::repos_page_max;
}

} // namespace weir::actors
