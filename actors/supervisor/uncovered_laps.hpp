#pragma once

#include "actors/supervisor/limits_accounts.hpp"
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

/// Whether the host has to be asked about this repo, since no event and no
/// listing would show that its host has a newer state. A repo that is to be
/// fetched is not asked about, because the fetch shows the state; nor is a repo
/// that is gone for good. A repo that is gone according to the directory alone
/// is asked about, since it may be there.
bool is_asked_about(const storage::repo_row& row) noexcept;

/// Whether the host's answer about a repo differs from what is stored.
bool is_news_of_host(const std::string& pds, storage::account_status account,
                     atproto::tid rev, const storage::repo_row& row,
                     const storage::chain_row* chain);

/// Decides when the rows are searched for repos that no upstream covers, and
/// about which of these repos their hosts are asked: all rows once in an
/// interval, a page at a time. Without CAF, clock or store.
///
/// When a lap had no room for some questions, the next lap begins with the
/// first of those repos, and ends where it began.
///
/// # Limits
/// About `limits::uncovered_asked_per_host` repos of one host are asked about
/// in an hour, and never more than `limits::uncovered_burst` times as many.
/// When a host has more repos, each lap asks about another part of them, so
/// that each repo has its turn. Memory is the same however many repos there
/// are.
class uncovered_laps {
public:
  struct page {
    atproto::did after;
    /// The last row of the lap; empty: the last row of all.
    atproto::did until;
  };

  explicit uncovered_laps(std::chrono::seconds interval);

  /// The node starts.
  /// @param draw Any random number.
  void start(steady_time now, uint64_t draw);

  /// The page that is to be read now.
  /// @param all_covered A relay that carries every repo is followed, so there
  ///        is nothing to search.
  std::optional<page> next(steady_time now, uint64_t draw, bool all_covered);

  /// Counts a repo that no upstream covers. Call it in the order of the page.
  /// @returns whether its host is to be asked about it now.
  bool take(const atproto::did& repo, const storage::repo_row& row);

  /// There was no room for the question about the repo that was taken last.
  void on_shortage();

  /// The page was taken.
  /// @param last The last row that was looked at.
  void on_page(const atproto::did& last, bool end, bool asked,
               steady_time now);

  /// The page could not be read: the rest waits for the next lap.
  void on_failure();

  /// When `next` will have something new to return.
  std::optional<steady_time> due() const;

  /// Whether a lap is under way.
  bool runs() const noexcept { return runs_; }

  /// The number of repos that no upstream covers, as the last complete lap
  /// found it.
  const std::optional<uint64_t>& found() const noexcept { return found_; }

private:
  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  void begin(steady_time now, uint64_t draw);
  void finish(steady_time now);

  std::chrono::microseconds interval_;
  uint32_t per_host_; ///< In a lap, on average.
  bool runs_ = false;
  bool reading_ = false;
  /// When the next page is due while a lap runs; otherwise the next lap.
  steady_time due_;
  steady_time next_lap_;
  /// The lap reached the end of the rows and goes on from the first row.
  bool turned_ = false;
  atproto::did begin_;
  atproto::did after_;
  atproto::did current_;               ///< The row that was taken last,
  atproto::did previous_;              ///< and the one before it.
  /// The first repo without room comes after this one.
  std::optional<atproto::did> missed_;
  uint64_t lap_ = 0;
  uint64_t count_ = 0;
  std::optional<uint64_t> found_;
  std::unique_ptr<counts> before_ = std::make_unique<counts>();
  std::unique_ptr<counts> now_ = std::make_unique<counts>();
  std::unique_ptr<counts> asked_ = std::make_unique<counts>();
};

/// Selects from `rows`, which follow `at.after` in the store, what belongs to
/// the page. The page ends when it has enough repos for its questions.
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
