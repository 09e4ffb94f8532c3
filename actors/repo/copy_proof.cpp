#include "actors/repo/copy_proof.hpp"

#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>

namespace weir::actors {

using storage::account_status;

namespace {

/// Nothing was reported yet, so no event on its way would explain a listing.
bool is_unheard(const storage::repo_row& row, atproto::tid rev) {
  return !rev.defined() && !row.words.host_at.defined()
         && row.words.relays.empty() && !row.words.asked;
}

constexpr auto no_rev_stated
  = "its position is stale, and its host does not say its rev";

} // namespace

// -- events -------------------------------------------------------------------

void copy_proof::note_event(const waiting_frame& x, atproto::tid rev,
                            repo_turn& t, bool always) {
  if (completeness::on_carried(t.row, x.frame.at.upstream))
    t.touch_row();
  const auto since_reset = x.frame.since_reset();
  if ((!always && completeness::is_noted(t.row, since_reset))
      || t.board().accounting_for(t.row.pds).id != since_reset.upstream)
    return;
  if (completeness::on_event(t.row, since_reset, rev, always))
    t.touch_row();
}

bool copy_proof::is_first_word(const waiting_frame& x,
                               const repo_turn& t) const {
  const auto since_reset = x.frame.since_reset();
  return !completeness::is_noted(t.row, since_reset)
         && t.board().accounting_for(t.row.pds).id == since_reset.upstream;
}

// -- listings -----------------------------------------------------------------

void copy_proof::hear_listing(const repo_listed& x, repo_turn& t) {
  if (completeness::on_carried(t.row, x.upstream))
    t.touch_row();
  if (!x.rev.defined() && x.account == account_status::active)
    return; // The line names the repo and nothing more.
  const auto from = t.board().find(x.upstream);
  if (hear_former_host(x, from, t))
    return;
  const auto own_stream = account_sources::has_own_stream(t.board(), t.row.pds);
  if (account_sources::denies_tombstone(t.row.words, x.account, from.relay,
                                        own_stream))
    identity_.recheck_tombstone(t);
  if (sync_.takes_commits(t.row)
      && t.board().accounting_for(t.row.pds).id == x.upstream
      && !is_beyond_clock(x.rev, t.now)
      && completeness::on_listed(t.row, x.noted, x.rev, chain_.rev(),
                                 t.now.wall))
    t.touch_row();
  const auto said = account_sources::listed_by(from, x.account, x.asked_at);
  const auto other_state
    = account_sources::is_news(t.row.words, said, own_stream);
  const auto other_rev = is_ahead(x, from, t);
  // Another relay, or the host, may know more than this relay does, and a
  // former host may still list the repo.
  const auto counts_at_once = !from.relay && !identity_.may_be_old();
  if (other_state && is_unheard(t.row, chain_.rev()) && counts_at_once) {
    account_.hear(said, t);
  } else if (other_rev || other_state) {
    auto seen = x;
    if (!other_rev)
      seen.rev = {};
    listed_.open(seen, t);
  }
}

/// Whether the line is from a PDS that the document does not name, or not yet.
bool copy_proof::hear_former_host(const repo_listed& x,
                                  const upstream_view& from, repo_turn& t) {
  if (!account_sources::is_former(from, t.row.pds))
    return false;
  const auto speaks_against_document
    = x.account == account_status::active
      && (t.row.words.host != account_status::active
          || (sync_.takes_commits(t.row) && x.rev > chain_.rev()));
  if (speaks_against_document)
    identity_.dispute(t);
  return true;
}

/// Whether the copy should have the listed rev. A relay's listing counts only
/// while the host's own stream is not read. A host that lists a rev which its
/// downloads lack is asked each time, so that the copy does not stay behind.
bool copy_proof::is_ahead(const repo_listed& x, const upstream_view& from,
                          const repo_turn& t) const {
  if (!sync_.takes_commits(t.row) || x.rev <= chain_.rev()
      || is_beyond_clock(x.rev, t.now))
    return false;
  const auto host_speaks = account_sources::has_own_stream(t.board(), t.row.pds)
                           && t.board().accounting_for(t.row.pds).connected;
  return !from.relay || !(host_speaks || sync_.is_disproved(x.rev, t.now));
}

void copy_proof::attend_listing(repo_turn& t) {
  std::vector<open_line> later;
  for (auto& line : listed_.take()) {
    const auto from = t.board().find(line.seen.upstream);
    // While a newer document is awaited, that PDS may be the former host.
    const auto may_be_former = !from.relay && identity_.may_be_old();
    const auto is_late
      = may_be_former
        || !from.sent_all(line.since, t.now.steady, t.settings.listing_grace);
    const auto is_due = line.due <= t.now.steady;
    if (is_due && (t.now.steady >= line.last || !is_late)) {
      if (!may_be_former)
        decide_listing(line.seen, from, t);
      continue;
    }
    if (is_due) // The decision is put off.
      line.due = t.now.steady
                  + std::max<std::chrono::seconds>(t.settings.listing_grace,
                                                   limits::listing_wait_step);
    later.push_back(std::move(line));
  }
  for (auto& x : later)
    listed_.keep(std::move(x), t);
}

void copy_proof::decide_listing(const repo_listed& seen,
                                const upstream_view& from, repo_turn& t) {
  if (account_sources::is_former(from, t.row.pds))
    return;
  account_.hear(account_sources::listed_by(from, seen.account, seen.asked_at),
                t);
  if (!sync_.takes_commits(t.row) || seen.rev <= chain_.rev())
    return;
  t.count(repo_counter::listing_mismatch);
  needed_rev::require(t.row, seen.rev, false);
  sync_.desync("the host lists rev " + seen.rev.str() + ", we have "
                 + chain_.rev().str(),
               t);
}

// -- the host -----------------------------------------------------------------

/// If no upstream covers the repo, no event and no listing would ever show that
/// the host has a newer rev. If one does, the event may be on its way.
void copy_proof::hear_host(const account_said& x, repo_turn& t) {
  if (!sync_.takes_commits(t.row) || x.pds != t.row.pds)
    return;
  const auto from = t.board().accounting_for(t.row.pds);
  if (from.id != 0 && from.id != t.row.left_out_by) {
    prove_by_host(x, from, t);
    return;
  }
  if (x.rev <= chain_.rev() || is_beyond_clock(x.rev, t.now))
    return;
  t.count(repo_counter::listing_mismatch);
  needed_rev::require(t.row, x.rev, false);
  sync_.desync("no upstream covers it, and its host has rev " + x.rev.str()
                 + ", we have " + chain_.rev().str(),
               t);
}

/// A host that names the rev of the copy proves it, like a line of a listing
/// (CONS-25). A repo whose host never names its rev is fetched (CONS-29).
void copy_proof::prove_by_host(const account_said& x, const upstream_view& from,
                               repo_turn& t) {
  if (job_.runs() || x.account != account_status::active
      || from.id != x.noted.upstream)
    return;
  if (x.rev == chain_.rev()) {
    if (completeness::on_listed(t.row, x.noted, x.rev, chain_.rev(),
                                t.now.wall))
      t.touch_row();
    return;
  }
  if (!x.prove || completeness::is_noted(t.row, from.since_reset()))
    return;
  if (!x.rev.defined())
    sync_.desync(no_rev_stated, t);
  else if (x.rev > chain_.rev() && !is_beyond_clock(x.rev, t.now)
           && !listed_.get())
    listed_.open({x.repo, x.rev, x.account, x.noted, from.id}, t);
}

// -- the census ---------------------------------------------------------------

void copy_proof::hear_census(const repo_incomplete& x, repo_turn& t) {
  const auto from = t.board().accounting_for(t.row.pds);
  if (x.left_out_by != 0) {
    if (from.id == x.left_out_by)
      t.set(t.row.left_out_by, x.left_out_by);
    return;
  }
  if (job_.runs() || !sync_.takes_commits(t.row)
      || !completeness::counts(t.row)
      || (listed_.get() && identity_.may_be_old()))
    return;
  // A listing may have named the rev before a late stream delivers it. The
  // stream is given no more time than after any other listing.
  const auto named_at = t.row.first_rev.time();
  const auto is_on_its_way
    = from.id != 0 && t.row.last_indexed_rev.defined()
      && t.now.wall.micros - named_at.micros
           < std::chrono::microseconds{limits::listing_wait_max}.count()
      && !from.sent_all(named_at, t.now.steady, t.settings.listing_grace);
  if (completeness::needs_index(t.row, chain_.rev())) {
    // Otherwise a later census sees whether it came.
    if (is_on_its_way || completeness::lacks_named_rev(t.row, t.now.wall))
      return;
    needed_rev::require(t.row, t.row.first_rev, false);
    sync_.desync("it was not fetched since its upstream named it", t);
  } else if (x.unproved && !listed_.get()
             && !completeness::is_noted(t.row, from.since_reset())) {
    sync_.desync(no_rev_stated, t);
  }
}

} // namespace weir::actors
