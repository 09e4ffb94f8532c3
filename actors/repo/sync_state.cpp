#include "actors/repo/sync_state.hpp"

#include <algorithm>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

void sync_state::desync(std::string reason, repo_turn& t) {
  if (job_.runs())
    job_.end(fail(ec::chain_broken, reason), t);
  else
    buffer_.drop(t);
  t.row.status = repo_status::desync;
  t.row.error = std::move(reason);
  t.row.next_retry = 0;
  t.touch_row();
  if (t.row.account == account_status::active)
    wish_fetch(t);
}

void sync_state::wish_fetch(repo_turn& t) {
  using std::chrono::ceil;
  using std::chrono::seconds;
  t.row.next_retry = 0;
  if (const auto due = plan_.due(); due > t.now.steady)
    t.row.next_retry
      = t.now.wall.seconds() + ceil<seconds>(due - t.now.steady).count();
  t.touch_row();
  t.wish_fetch(t.row.next_retry);
}

void sync_state::keep(waiting_frame x, repo_turn& t) {
  if (buffer_.keep(std::move(x), t))
    return;
  t.count(repo_counter::buffer_overflow);
  desync("more commits came than can be kept", t);
  mark_gap(t);
}

void sync_state::take_new_identity(repo_turn& t) {
  if (wait_.regrets() && (takes_commits(t.row) || job_.runs()))
    desync("the key or host changed after events were refused", t);
  else if (t.row.status == repo_status::error
           && t.row.account == account_status::active)
    wish_fetch(t);
  wait_.settle();
  t.set(t.row.refused_by, 0);
}

void sync_state::check_filter(repo_turn& t) {
  if (t.row.status != repo_status::synced
      || t.row.filter_generation == t.settings.filter_generation)
    return;
  if (kept_.has_own()) { // It was not this one that changed.
    t.row.filter_generation = t.settings.filter_generation;
    t.touch_row();
  } else {
    desync("the filter changed", t);
  }
}

void sync_state::hurry_fetch(repo_turn& t) {
  const auto failed_by = [&t](ec x) {
    return t.row.error.starts_with(to_string(x));
  };
  if (t.row.status != repo_status::error
      || t.row.account != account_status::active || plan_.due() > t.now.steady
      || !(failed_by(ec::verification_failed) || failed_by(ec::unverifiable)))
    return;
  plan_.fetched(t.now.steady);
  identity_.look_up(t);
  fetch_now(t);
}

void sync_state::open_gap(repo_turn& t) {
  if (!takes_commits(t.row) && !job_.runs())
    return; // The repo will be fetched anyhow.
  plan_.open_gap(t.now.steady);
  mark_gap(t);
  attend_gap(t);
}

void sync_state::attend_gap(repo_turn& t) {
  const auto due = plan_.gap_due();
  if (!due)
    return;
  if (*due > t.now.steady) {
    t.arm(*due);
    return;
  }
  if (!takes_commits(t.row) && !job_.runs()) {
    plan_.close_gap(); // The repo will be fetched anyhow.
    return;
  }
  plan_.spend_gap(t.now.steady);
  desync("an event was dropped that may have been valid", t);
}

void sync_state::end_fetch(atproto::tid rev, repo_turn& t) {
  // The document may be an old one, or the gap opened after the fetch began.
  t.row.gap = wait_.open() || has_gap();
  t.row.last_sync = t.now.wall.seconds();
  plan_.fetched(t.now.steady);
  if (t.row.listed_rev > rev)
    plan_.disprove(t.row.listed_rev, t.now.steady);
  needed_rev::settle(t.row);
  forget_tries(t);
  t.touch_row();
}

void sync_state::retry_later(const error& why, repo_turn& t) {
  t.row.status = repo_status::error;
  t.row.error = to_string(why);
  auto delay = t.settings.retry_min;
  for (uint32_t i = 0; i < t.row.retry_count && delay < t.settings.retry_max;
       ++i)
    delay *= 2;
  ++t.row.retry_count;
  t.row.next_retry
    = t.now.wall.seconds() + std::min(delay, t.settings.retry_max).count();
  t.wish_fetch(t.row.next_retry);
}

void sync_state::end_life(repo_turn& t) {
  if (job_.runs())
    job_.end(fail(ec::cancelled, "the repo was removed"), t);
  identity_.end_life();
  buffer_.drop(t);
  wait_ = {};
  plan_ = {};
}

} // namespace weir::actors
