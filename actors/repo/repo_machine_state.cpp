#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/repo/repo_machine.hpp"
#include "actors/support/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

namespace {

/// Nobody has said anything of it: there is nothing that an event which is on its
/// way would explain.
bool is_untold(const storage::repo_row& row, atproto::tid rev) {
  return !rev.defined() && !row.words.host_at.defined()
         && row.words.relays.empty() && !row.words.asked;
}

} // namespace

bool repo_machine::takes_commits() const noexcept {
  return row_.status == repo_status::synced || (job_ && job_->draining);
}

bool repo_machine::wants_fetch() const noexcept {
  return exists_ && !job_ && row_.account == account_status::active
         && row_.status != repo_status::synced;
}

repo_status repo_machine::status_without_job() const noexcept {
  return row_.last_indexed_rev.defined() ? repo_status::desync
                                         : repo_status::pending;
}

void repo_machine::desync(std::string reason, now_time now,
                          repo_effects& out) {
  if (job_)
    end_job(out, fail(ec::chain_broken, reason));
  else
    drop_buffer();
  row_.status = repo_status::desync;
  row_.error = std::move(reason);
  row_.next_retry = 0;
  touch_row();
  if (row_.account == account_status::active)
    wish_fetch(now, out);
}

/// An event that may have meant something was dropped (CONS-11). The repo goes
/// on, in case the next one shows that nothing is missing, until its fetch is
/// due.
void repo_machine::open_gap(now_time now, repo_effects& out) {
  if (!takes_commits() && !job_)
    return; // It is fetched anyhow.
  refetch_.open_gap(now.steady);
  if (!std::exchange(row_.gap, true))
    touch_row();
  attend_gap(now, out);
}

void repo_machine::attend_gap(now_time now, repo_effects& out) {
  const auto due = refetch_.gap_due();
  if (!due)
    return;
  if (*due > now.steady) {
    arm(*due, out);
    return;
  }
  if (!takes_commits() && !job_) {
    refetch_.close_gap(); // It is fetched anyhow.
    return;
  }
  refetch_.spend_gap(now.steady);
  desync("an event was dropped that may have been true", now, out);
}

/// A key that was not there yet, or an old one: the next event of the account
/// says that there may be another by now (protocol-coverage.md 5.2). A few
/// times, then the back-off holds.
void repo_machine::hurry_fetch(now_time now, repo_effects& out) {
  const auto is_of_key = [this](ec x) {
    return row_.error.starts_with(to_string(x));
  };
  if (row_.status != repo_status::error
      || row_.account != account_status::active || refetch_.due() > now.steady
      || !(is_of_key(ec::verification_failed) || is_of_key(ec::unverifiable)))
    return;
  refetch_.fetched(now.steady);
  pace_.wanted = true;
  try_refresh(now, out);
  row_.next_retry = 0;
  touch_row();
  out.wish = fetch_wish{row_.status, 0};
}

/// A fetch at once, or after a pause when there were many just now: a repo that
/// keeps falling out of sync must not be fetched without end.
void repo_machine::wish_fetch(now_time now, repo_effects& out) {
  using std::chrono::ceil;
  using std::chrono::seconds;
  row_.next_retry = 0;
  if (const auto due = refetch_.due(); due > now.steady)
    row_.next_retry = now.wall.seconds()
                      + ceil<seconds>(due - now.steady).count();
  touch_row();
  out.wish = fetch_wish{row_.status, row_.next_retry};
}

// -- the filter (SYNC-20; completeness.md, The terms) -------------------------

/// A repo's own collections, if it has some, stand before the node's.
void repo_machine::set_filter(const storage::member_row& member) {
  own_filter_.reset();
  if (member.collections.empty())
    return;
  if (auto own = wire::collection_filter::parse(member.collections))
    own_filter_ = std::move(*own);
}

const wire::collection_filter& repo_machine::filter() const noexcept {
  return own_filter_ ? *own_filter_ : settings_->filter;
}

/// What was indexed under another filter is fetched again.
void repo_machine::check_filter(now_time now, repo_effects& out) {
  if (row_.status != repo_status::synced
      || row_.filter_generation == settings_->filter_generation)
    return;
  if (own_filter_) { // It was not this one that changed.
    row_.filter_generation = settings_->filter_generation;
    touch_row();
  } else {
    desync("the filter changed", now, out);
  }
}

repo_effects repo_machine::on_listed(const listed_repo& x,
                                     const upstream_board& board,
                                     now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  if (completeness::on_carried(row_, x.upstream))
    touch_row();
  const auto says_something
    = x.rev.defined() || x.account != account_status::active;
  if (!says_something) { // It names the repo, no more.
    flush(out);
    return out;
  }
  const auto from = board.find(x.upstream);
  if (account_sources::is_former(from, row_.pds)) {
    // Its former host, or one that the document does not name yet.
    const auto speaks_against
      = x.account == account_status::active
        && (row_.words.host != account_status::active
            || (takes_commits() && x.rev > tip_.rev));
    if (speaks_against)
      doubt_document(now, out);
    flush(out);
    return out;
  }
  const auto own_stream = account_sources::has_own_stream(board, row_.pds);
  if (account_sources::denies_tombstone(row_.words, x.account, from.relay,
                                        own_stream))
    doubt_tombstone(now, out);
  if (takes_commits() && board.accounting_for(row_.pds).id == x.upstream
      && completeness::on_listed(row_, x.noted, x.rev, tip_.rev))
    touch_row();
  const auto said = account_sources::listed_by(from, x.account, x.asked_at);
  const auto other_state
    = account_sources::is_news(row_.words, said, own_stream);
  // A relay is a stranger beside the host. A host that lists what its downloads
  // do not have yet is asked each time, or the repo would stay behind.
  const auto host_speaks
    = own_stream && board.accounting_for(row_.pds).connected;
  const auto is_idle_talk
    = from.relay
      && (host_speaks || refetch_.is_disproved(x.rev, now.steady));
  const auto is_ahead = takes_commits() && x.rev > tip_.rev && !is_idle_talk
                        && !is_beyond_clock(x.rev, now);
  // Another relay, or the host, may know more than this one; a host that is not
  // its host any more may still list it.
  const auto counts_at_once = !from.relay && !identity_pending_ && !pace_.open();
  if (other_state && is_untold(row_, tip_.rev) && counts_at_once) {
    hear_account(said, board, now, out);
  } else if (is_ahead || other_state) {
    // The event may be on its way: look again after a while.
    auto seen = x;
    if (!is_ahead)
      seen.rev = {};
    if (!suspicion_)
      suspicion_ = suspicion{seen, now.wall,
                             now.steady + settings_->listing_grace,
                             now.steady + limits::listing_doubt_max};
    arm(suspicion_->due, out);
  }
  flush(out);
  return out;
}

// -- commands -----------------------------------------------------------------

repo_effects repo_machine::on_add(addition what, bool& added, now_time now) {
  repo_effects out;
  added = loaded_ && !exists_ && !queued_add_;
  if (!added) {
    if (exists_) {
      added = take_collections(what.collections, now, out);
      hear_missed(what, now, out);
    }
    flush(out);
    return out;
  }
  if (removing_) {
    queued_add_ = std::move(what); // Its old row has to go first.
    return out;
  }
  begin_life(std::move(what), now, out);
  flush(out);
  return out;
}

/// Those that a second addition names take the place of what was kept before.
/// @returns whether they are others.
bool repo_machine::take_collections(const std::vector<std::string>& x,
                                    now_time now, repo_effects& out) {
  const auto wanted = wire::collection_filter::parse(x);
  if (x.empty() || !wanted
      || (own_filter_ && own_filter_->patterns() == wanted->patterns()))
    return false;
  next_.member = storage::member_row{settings_->filter_generation, x};
  next_used_ = true;
  set_filter(*next_.member);
  if (row_.status != repo_status::pending)
    desync("its collections changed", now, out);
  return true;
}

void repo_machine::begin_life(addition what, now_time now, repo_effects& out) {
  exists_ = true;
  row_ = {};
  question_ = {};
  host_word_.reset();
  tip_ = {};
  written_status_.reset();
  identity_.reset(); // The new row is to be filled from it.
  identity_pending_ = false;
  touch_row();
  next_.member = storage::member_row{settings_->filter_generation,
                                     std::move(what.collections)};
  set_filter(*next_.member);
  out.wish = fetch_wish{repo_status::pending, 0};
  hear_missed(what, now, out);
  ask_identity(out);
}

/// What events told that were finished before the repo was tracked: the row
/// says it, for a crash as well. Nobody has proved the rev, so it counts as a
/// listed one does.
void repo_machine::hear_missed(const addition& what, now_time now,
                               repo_effects& out) {
  if (what.least > tip_.rev) {
    needed_rev::require(row_, what.least, false);
    touch_row();
    open_gap(now, out);
  }
  if (!what.look_up)
    return;
  pace_.wanted = true;
  pace_.retry.begin();
  if (!std::exchange(row_.identity_due, true))
    touch_row();
  try_refresh(now, out);
}

repo_effects repo_machine::on_remove(bool& removed, now_time now) {
  repo_effects out;
  static_cast<void>(now);
  removed = loaded_ && (exists_ || queued_add_);
  if (!removed)
    return out;
  if (queued_add_) { // Of a removal that is on its way.
    queued_add_.reset();
    forget_waiting(out);
    return out;
  }
  if (job_)
    end_job(out, fail(ec::cancelled, "the repo was removed"));
  exists_ = false;
  removing_ = true;
  suspicion_.reset();
  pace_.wanted = false;
  drop_buffer();
  doubt_ = {};
  refetch_ = {};
  next_ = {};
  next_.erase = true;
  next_.forget = true;
  next_.buffer_clear = true;
  next_.old_status = written_status_;
  next_used_ = true;
  row_dirty_ = false; // The row goes; none takes its place.
  if (std::exchange(prepare_pending_, false))
    out.ready = fetch_ready{}; // Or its place in the queue would be kept.
  forget_waiting(out);
  flush(out);
  return out;
}

/// The row is gone: the end, or the beginning of another life. Until then the
/// repo is tracked, because a removal that fails leaves it on disk.
void repo_machine::finish_removal(const upstream_board& board, now_time now,
                                  repo_effects& out) {
  removing_ = false;
  if (queued_add_)
    begin_life(*std::exchange(queued_add_, std::nullopt), now, out);
  else
    out.removed = true;
  pump(board, now, out);
}

repo_effects repo_machine::on_resync(bool& queued, now_time now) {
  repo_effects out;
  queued = loaded_ && exists_;
  if (!queued || job_)
    return out;
  if (row_.account != account_status::active) {
    question_.want_now(); // What it is now decides whether it is fetched.
    pace_.wanted |= row_.words.tombstoned; // There only a document does.
    try_refresh(now, out);
    ask_host(now, out);
    flush(out);
    return out;
  }
  desync("asked for", now, out);
  row_.error.clear();
  row_.next_retry = 0;
  out.wish = fetch_wish{row_.status, 0};
  flush(out);
  return out;
}

} // namespace weir::actors
