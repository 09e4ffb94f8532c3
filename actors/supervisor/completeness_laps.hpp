#pragma once

#include "actors/supervisor/limits_scans.hpp"
#include "actors/supervisor/question_machine.hpp"
#include "actors/support/completeness_census.hpp"
#include "atproto/identifiers.hpp"
#include "base/clock.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace weir::actors {

/// Decides when all rows are looked at, to count the complete repos and to find
/// what the others lack. A look reads a page at a time; the pause after a page
/// follows from how long the page took. Without CAF, clock or store.
class completeness_laps {
public:
  /// @param interval From the end of a look to the begin of the next, while
  ///                 something is incomplete.
  explicit completeness_laps(std::chrono::seconds interval
                             = limits::completeness_pause)
    : interval_(interval),
      interval_whole_(std::max(interval, limits::completeness_pause_whole)) {}

  void start(steady_time now) { due_ = now + interval_; }

  /// The row after which the page begins that has to be read now. The empty
  /// DID: a new look begins.
  std::optional<atproto::did> next(steady_time now) {
    if (reading_ || now < due_)
      return std::nullopt;
    if (!runs_)
      after_ = {};
    runs_ = reading_ = true;
    began_ = now;
    return after_;
  }

  /// The page was read.
  /// @param asked A host was asked about a repo of this page.
  void on_page(const atproto::did& last, bool asked, steady_time now) {
    rest(now);
    after_ = last;
    due_ = asked ? std::max(rested_, now + limits::uncovered_page_pause)
                 : rested_;
  }

  /// That page was the last one.
  /// @param seen What the look counted.
  void on_end(const completeness_count& seen, steady_time now) {
    const auto whole = seen.active == seen.complete;
    rest(now);
    runs_ = false;
    due_ = std::max(rested_, now + (whole ? interval_whole_ : interval_));
  }

  /// Something happened that a look should see soon: the next look waits no
  /// longer than it would after a look that found something incomplete.
  void hurry(steady_time now) {
    const auto soon = std::max(rested_, now + interval_);
    if (!runs_ && due_ > soon)
      due_ = soon;
  }

  /// The page could not be read: the look begins anew, later.
  void on_failure(steady_time now) {
    reading_ = runs_ = false;
    due_ = now + interval_whole_;
  }

  /// @returns when `next` will have something new to return.
  std::optional<steady_time> due() const {
    return reading_ ? std::nullopt : std::optional{due_};
  }

private:
  /// @pre a page is being read
  void rest(steady_time now) {
    reading_ = false;
    rested_ = now
              + std::min<std::chrono::microseconds>(
                (now - began_) * limits::completeness_rest_part,
                limits::completeness_pause_max);
  }

  std::chrono::microseconds interval_;
  /// The interval while nothing is incomplete.
  std::chrono::microseconds interval_whole_;
  bool reading_ = false;
  bool runs_ = false;
  steady_time began_; ///< When the page was begun.
  steady_time due_;
  steady_time rested_; ///< The end of the pause that the last page requires.
  atproto::did after_;
};

static_assert(limits::completeness_wake_interval <= limits::completeness_pause);

/// How much may be done about the incomplete repos that a look at all rows
/// (`completeness_laps`) finds. Without CAF, clock or store.
///
/// # Limits
/// A limited number of REPOs is woken per interval; the next look goes on with
/// the first repo that had to wait. About `limits::uncovered_asked_per_host`
/// repos of one host are asked about in an hour. When a host has more of them,
/// each hour asks about another part, so that no repo waits behind repos that
/// can never be proved. Memory is the same however many hosts there are.
class completeness_budget {
public:
  /// @param salt Random, so that nobody can choose hosts that share a budget.
  explicit completeness_budget(uint64_t salt = 0) : salt_(salt) {}

  void on_begin() {
    first_ = std::exchange(missed_, atproto::did{});
    now_->fill(0);
  }

  void on_end() { std::swap(before_, now_); }

  /// Whether the REPO of this repo may be woken now; counts it if so. Call it
  /// in the order of the rows.
  bool may_wake(const atproto::did& repo, steady_time now) {
    if (repo < first_)
      return false;
    if (!woken_since_
        || now - *woken_since_ >= limits::completeness_wake_interval) {
      woken_since_ = now;
      woken_ = 0;
    }
    if (woken_ >= limits::completeness_wakes_max) {
      if (missed_.empty())
        missed_ = repo;
      return false;
    }
    ++woken_;
    return true;
  }

  /// The number of parts follows from the number of repos in the last look.
  /// Before that is known, the first repos of the look are asked about.
  /// @returns whether it belongs to those that are asked about in this hour.
  bool has_turn(const atproto::did& repo, const std::string& pds,
                steady_time now) {
    begin_hour(now);
    const auto slot = slot_of(pds);
    ++(*now_)[slot];
    constexpr uint64_t most
      = limits::uncovered_asked_per_host / limits::completeness_ask_part;
    const auto parts = ((*before_)[slot] + most - 1) / most;
    return parts <= 1
           || (atproto::stable_hash(std::to_string(salt_) + repo.str()) + hour_)
                  % parts
                == 0;
  }

  /// Whether this host may be asked about one more repo now. Counts it if so.
  bool may_ask(const std::string& pds, steady_time now) {
    begin_hour(now);
    auto& count = (*asked_)[slot_of(pds)];
    return count < limits::uncovered_asked_per_host && ++count > 0;
  }

  /// What is done now about a repo that a look found (CONS-27 to CONS-29).
  struct help {
    bool wake = false; ///< Its REPO finds out what it lacks.
    std::optional<question_machine::question> ask{}; ///< May prove the copy.
  };

  /// Counts what it decides. Call it in the order of the rows.
  help help_for(const completeness_page::repo& x, const question_machine& open,
                steady_time now) {
    if (!x.prove)
      return {may_wake(x.id, now)};
    question_machine::question out{x.id, x.pds};
    out.left_out = true; // Without a place, a later look asks.
    out.noted = x.noted;
    out.prove = true;
    if (has_turn(x.id, x.pds, now) && open.has_half() && open.is_new(out, now)
        && may_ask(x.pds, now))
      return {false, std::move(out)};
    return {};
  }

private:
  using counts = std::array<uint32_t, limits::uncovered_host_slots>;

  size_t slot_of(const std::string& pds) const {
    return atproto::stable_hash(std::to_string(salt_) + pds) % asked_->size();
  }

  void begin_hour(steady_time now) {
    if (asked_since_ && now - *asked_since_ < std::chrono::hours{1})
      return;
    asked_since_ = now;
    ++hour_;
    asked_->fill(0);
  }

  uint64_t salt_;
  std::optional<steady_time> woken_since_;
  size_t woken_ = 0;
  atproto::did first_;  ///< The first repo that may be woken in this look.
  atproto::did missed_; ///< The first repo that had to wait.
  uint64_t hour_ = 0;
  std::optional<steady_time> asked_since_;
  std::unique_ptr<counts> asked_ = std::make_unique<counts>();
  /// Repos to be asked about, by host: in the last whole look, and in this one.
  std::unique_ptr<counts> before_ = std::make_unique<counts>();
  std::unique_ptr<counts> now_ = std::make_unique<counts>();
};

} // namespace weir::actors
