#pragma once

#include "actors/supervisor/limits_scans.hpp"
#include "actors/support/upstream_view.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"
#include "storage/format/records.hpp"
#include "storage/tables/limits.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weir::actors {

/// Whether the host has to be asked about this repo, since no event and no
/// listing would show that its host has a newer state. A repo that is to be
/// fetched is not asked about, because the fetch shows the state; nor is a repo
/// that is gone for good. A repo that is gone according to the directory alone
/// is asked about, since it may be there.
inline bool is_asked_about(const storage::repo_row& row) noexcept {
  const auto by_directory
    = row.words.tombstoned
      && row.words.host != storage::account_status::deleted;
  const auto is_away
    = row.account != storage::account_status::active
      && (row.account != storage::account_status::deleted || by_directory);
  return is_away || row.status == storage::repo_status::synced;
}

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
/// that each repo has its turn. Memory does not grow with the number of repos.
class uncovered_laps {
public:
  struct page {
    atproto::did after;
    /// The last row of the lap; empty: the last row of all.
    atproto::did until;
  };

  explicit uncovered_laps(std::chrono::seconds interval)
    : interval_(interval), per_host_(budget_of(interval)) {}

  /// The node starts.
  /// @param draw Any random number.
  void start(steady_time now, uint64_t draw) {
    due_ = now + interval_ / limits::uncovered_first_part
           + draw_from(draw, interval_, limits::uncovered_first_part);
  }

  /// The page that is to be read now.
  /// @param all_covered A relay that carries every repo is followed, so there
  ///        is nothing to search.
  std::optional<page> next(steady_time now, uint64_t draw, bool all_covered) {
    if (reading_ || now < due_)
      return std::nullopt;
    if (!runs_)
      begin(now, draw);
    if (all_covered) {
      count_ = 0;
      begin_ = {};
      finish(now);
      return std::nullopt;
    }
    reading_ = true;
    current_ = after_;
    return page{after_, turned_ ? begin_ : atproto::did{}};
  }

  /// Counts a repo that no upstream covers. Call it in the order of the page.
  /// Which part of a host's repos a lap asks about follows from how many the
  /// host had in the last lap. Before that is known, the first repos are asked
  /// about.
  /// @returns whether its host is to be asked about it now.
  bool take(const atproto::did& repo, const storage::repo_row& row) {
    ++count_;
    previous_ = std::exchange(current_, repo);
    if (!is_asked_about(row))
      return false;
    const auto slot = std::hash<std::string>{}(row.pds) % now_->size();
    ++(*now_)[slot];
    const auto parts = ((*before_)[slot] + per_host_ - 1) / per_host_;
    if (parts > 1 && (atproto::stable_hash(repo.str()) + lap_) % parts != 0)
      return false;
    if ((*asked_)[slot] >= limits::uncovered_burst * per_host_)
      return false; // The host has many more repos than in the last lap.
    ++(*asked_)[slot];
    return true;
  }

  /// There was no room for the question about the repo that was taken last.
  void on_shortage() {
    if (!missed_)
      missed_ = previous_;
  }

  /// The page was taken.
  /// @param last The last row that was looked at.
  void on_page(const atproto::did& last, bool end, bool asked,
               steady_time now) {
    reading_ = false;
    if (asked)
      due_ = now + limits::uncovered_page_pause;
    after_ = last;
    if (!end)
      return;
    if (turned_ || begin_.empty()) {
      begin_ = missed_.value_or(atproto::did{});
      finish(now);
      return;
    }
    turned_ = true;
    after_ = {};
  }

  /// The page could not be read: the rest waits for the next lap.
  void on_failure() {
    reading_ = false;
    runs_ = false;
    due_ = next_lap_;
  }

  /// @returns when `next` will have something new to return.
  std::optional<steady_time> due() const {
    return reading_ ? std::nullopt : std::optional{due_};
  }

  /// Whether a lap is under way.
  bool runs() const noexcept { return runs_; }

  /// The repos that no upstream covers, as the last complete lap counted them.
  const std::optional<uint64_t>& found() const noexcept { return found_; }

private:
  static constexpr std::chrono::seconds an_hour = std::chrono::hours{1};

  static uint32_t budget_of(std::chrono::seconds interval) {
    const auto share = limits::uncovered_asked_per_host
                       * static_cast<size_t>(interval.count())
                       / static_cast<size_t>(an_hour.count());
    return static_cast<uint32_t>(
      std::max(share, limits::uncovered_asked_per_lap_min));
  }

  /// Draws a time between 0 and this part of `x`.
  static std::chrono::microseconds
  draw_from(uint64_t draw, std::chrono::microseconds x, int part) {
    const auto most = std::max<int64_t>((x / part).count(), 1);
    return std::chrono::microseconds{
      static_cast<int64_t>(draw % static_cast<uint64_t>(most))};
  }

  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  void begin(steady_time now, uint64_t draw) {
    next_lap_ = now
                + (interval_
                   - draw_from(draw, interval_, limits::uncovered_jitter_part));
    runs_ = true;
    turned_ = false;
    after_ = begin_;
    missed_.reset();
    count_ = 0;
    ++lap_;
    now_->fill(0);
    asked_->fill(0);
  }

  void finish(steady_time now) {
    runs_ = false;
    due_ = std::max(next_lap_, now + interval_ / limits::uncovered_jitter_part);
    found_ = count_;
    std::swap(before_, now_);
  }

  std::chrono::microseconds interval_;
  uint32_t per_host_; ///< Questions to a host in a lap, on average.
  bool runs_ = false;
  bool reading_ = false;
  /// The time of the next page while a lap runs; otherwise of the next lap.
  steady_time due_;
  steady_time next_lap_;
  /// The lap reached the end of the rows and goes on from the first row.
  bool turned_ = false;
  atproto::did begin_;
  atproto::did after_;
  atproto::did current_;  ///< The row that was taken last,
  atproto::did previous_; ///< and the one before it.
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
