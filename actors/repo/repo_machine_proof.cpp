#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/repo/repo_machine.hpp"
#include "actors/support/limits.hpp"

#include <utility>

/// What proves a quiet repo whole, or that it is not, but for the stream and
/// its listings.
namespace weir::actors {

/// No event and no listing would ever show it (actors.md, What no upstream
/// covers). Where an upstream covers the repo, its event may be on its way.
void repo_machine::hear_rev(const host_answer& x, const upstream_board& board,
                            now_time now, repo_effects& out) {
  if (!takes_commits() || x.pds != row_.pds)
    return;
  auto from = board.accounting_for(row_.pds);
  if (from.id == row_.left_out_by)
    from = {};
  if (from.id != 0)
    hear_proof(x, from, now, out);
  if (from.id != 0 || x.rev <= tip_.rev || is_beyond_clock(x.rev, now))
    return;
  count(repo_counter::listing_mismatch, out);
  needed_rev::require(row_, x.rev, false);
  desync("no upstream covers it, and its host has rev " + x.rev.str()
           + ", we have " + tip_.rev.str(),
         now, out);
}

/// completeness.md, The terms: a host that names our rev proves a quiet repo
/// whole, like a line of a listing. One that never says its rev is fetched
/// from.
void repo_machine::hear_proof(const host_answer& x, const upstream_view& from,
                              now_time now, repo_effects& out) {
  if (job_ || x.account != storage::account_status::active
      || from.id != x.noted.upstream)
    return;
  if (x.rev == tip_.rev) {
    if (completeness::on_listed(row_, x.noted, x.rev, tip_.rev))
      touch_row();
    return;
  }
  if (!x.prove || completeness::is_noted(row_, from.since_reset()))
    return;
  if (!x.rev.defined()) {
    desync("its position is stale, and its host does not tell its rev", now,
           out);
  } else if (x.rev > tip_.rev && !is_beyond_clock(x.rev, now) && !suspicion_) {
    // Its event may be on its way.
    const listed_repo seen{x.rev, x.account, x.noted, from.id, {}};
    suspicion_ = suspicion{seen, now.wall,
                           now.steady + settings_->listing_grace,
                           now.steady + limits::listing_doubt_max};
    arm(suspicion_->due, out);
  }
}

/// What else keeps such a repo from being complete is seen when it is loaded. A
/// listed rev may be on its way.
repo_effects repo_machine::on_incomplete(const incompleteness& x,
                                         const upstream_board& board,
                                         now_time now) {
  repo_effects out;
  if (x.left_out_by != 0) {
    if (loaded_ && exists_
        && board.accounting_for(row_.pds).id == x.left_out_by
        && std::exchange(row_.left_out_by, x.left_out_by) != x.left_out_by)
      touch_row();
    flush(out);
    return out;
  }
  if (!loaded_ || !exists_ || job_ || suspicion_ || !takes_commits()
      || !completeness::counts(row_))
    return out;
  const auto from = board.accounting_for(row_.pds);
  // A listing may have told the rev ahead of a stream that is late: no longer is
  // that waited for than a listing is doubted.
  const auto told_at = row_.first_rev.time();
  const auto is_on_its_way
    = from.id != 0 && row_.last_indexed_rev.defined()
      && now.wall.micros - told_at.micros
           < std::chrono::microseconds{limits::listing_doubt_max}.count()
      && !from.told_all(told_at, now.steady, settings_->listing_grace);
  if (completeness::needs_index(row_, tip_.rev)) {
    if (!is_on_its_way) // Else a later look sees whether it came.
      desync("it was not fetched since its upstream told of it", now, out);
  } else if (x.unproved && !completeness::is_noted(row_, from.since_reset())) {
    desync("its position is stale, and its host does not tell its rev", now,
           out);
  }
  flush(out);
  return out;
}

/// So says the former host of an account that has moved, which has a new document
/// by then: the known one may be older than the move, however young it is. That
/// there is no such repo counts the second time only, minutes later.
void repo_machine::look_for_move(account_status said, now_time now,
                                 repo_effects& out) {
  if (said != account_status::deactivated)
    return;
  if (!std::exchange(row_.identity_due, true))
    touch_row();
  pace_.wanted = true;
  try_refresh(now, out);
}

} // namespace weir::actors
