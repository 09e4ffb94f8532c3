#include "actors/supervisor/uncovered_laps.hpp"

#include "actors/supervisor/limits_accounts.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace weir::actors {

using storage::account_status;

bool is_asked_about(const storage::repo_row& row) noexcept {
  const auto by_directory = row.words.tombstoned
                            && row.words.host != account_status::deleted;
  const auto is_away = row.account != account_status::active
                       && (row.account != account_status::deleted
                           || by_directory);
  return is_away || row.status == storage::repo_status::synced;
}

bool is_news_of_host(const std::string& pds, account_status account,
                     atproto::tid rev, const storage::repo_row& row,
                     const storage::chain_row* chain) {
  if (row.pds != pds)
    return false; // The repo moved since; that host was not asked.
  if (row.words.host != account || row.not_found_at != 0)
    return true;
  return account == account_status::active
         && row.status == storage::repo_status::synced
         && (chain == nullptr || rev > chain->rev);
}

namespace {

constexpr std::chrono::seconds an_hour = std::chrono::hours{1};

uint32_t budget_of(std::chrono::seconds interval) {
  const auto share = limits::uncovered_asked_per_host
                     * static_cast<size_t>(interval.count())
                     / static_cast<size_t>(an_hour.count());
  return static_cast<uint32_t>(
    std::max(share, limits::uncovered_asked_per_lap_min));
}

/// Up to this part of it.
std::chrono::microseconds draw_from(uint64_t draw,
                                    std::chrono::microseconds x, int part) {
  const auto most = std::max<int64_t>((x / part).count(), 1);
  return std::chrono::microseconds{
    static_cast<int64_t>(draw % static_cast<uint64_t>(most))};
}

} // namespace

uncovered_laps::uncovered_laps(std::chrono::seconds interval)
  : interval_(interval), per_host_(budget_of(interval)) {}

void uncovered_laps::start(steady_time now, uint64_t draw) {
  due_ = now + interval_ / limits::uncovered_first_part
         + draw_from(draw, interval_, limits::uncovered_first_part);
}

std::optional<uncovered_laps::page>
uncovered_laps::next(steady_time now, uint64_t draw, bool all_covered) {
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

void uncovered_laps::begin(steady_time now, uint64_t draw) {
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

/// Which part of a host's repos a lap asks about follows from how many the host
/// had in the last lap. Before that is known, the first repos are asked about.
bool uncovered_laps::take(const atproto::did& repo,
                          const storage::repo_row& row) {
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

void uncovered_laps::on_shortage() {
  if (!missed_)
    missed_ = previous_;
}

void uncovered_laps::on_page(const atproto::did& last, bool end, bool asked,
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

void uncovered_laps::on_failure() {
  reading_ = false;
  runs_ = false;
  due_ = next_lap_;
}

void uncovered_laps::finish(steady_time now) {
  runs_ = false;
  due_ = std::max(next_lap_, now + interval_ / limits::uncovered_jitter_part);
  found_ = count_;
  std::swap(before_, now_);
}

std::optional<steady_time> uncovered_laps::due() const {
  return reading_ ? std::nullopt : std::optional{due_};
}

} // namespace weir::actors
