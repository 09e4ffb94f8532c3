#include "actors/supervisor/completeness_budget.hpp"

#include "actors/supervisor/limits_accounts.hpp"

#include <chrono>
#include <utility>

namespace weir::actors {

static_assert(limits::completeness_wake_interval <= limits::completeness_pause);

void completeness_budget::on_begin() {
  first_ = std::exchange(missed_, atproto::did{});
  now_->fill(0);
}

void completeness_budget::on_end() {
  std::swap(before_, now_);
}

bool completeness_budget::may_wake(const atproto::did& repo, steady_time now) {
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
bool completeness_budget::has_turn(const atproto::did& repo,
                                   const std::string& pds, steady_time now) {
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

bool completeness_budget::may_ask(const std::string& pds, steady_time now) {
  begin_hour(now);
  auto& count = (*asked_)[slot_of(pds)];
  return count < limits::uncovered_asked_per_host && ++count > 0;
}

size_t completeness_budget::slot_of(const std::string& pds) const {
  return atproto::stable_hash(std::to_string(salt_) + pds) % asked_->size();
}

void completeness_budget::begin_hour(steady_time now) {
  if (asked_since_ && now - *asked_since_ < std::chrono::hours{1})
    return;
  asked_since_ = now;
  ++hour_;
  asked_->fill(0);
}

} // namespace weir::actors
