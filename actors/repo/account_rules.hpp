#pragma once

#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/host_question.hpp"
#include "actors/repo/repo_chain.hpp"
#include "actors/repo/sync_state.hpp"
#include "actors/support/account_sources.hpp"
#include "actors/support/limits.hpp"
#include "atproto/verify.hpp"

#include <utility>
#include <vector>

namespace weir::actors {

/// A difference that a listing or the host showed, and no event so far.
struct open_line {
  repo_listed seen;
  wall_time since;
  steady_time due; ///< The time of the next look at it.
  /// It is decided after this time, however late the stream is.
  steady_time last;
};

/// What listings said of a repo and the streams did not say yet: at most one
/// line for each relay and for the host. The event may still be on its way, so
/// nothing follows from a line for a while.
class open_lines {
public:
  /// The oldest one; null when none is open.
  const open_line* get() const noexcept {
    return open_.empty() ? nullptr : &open_.front();
  }

  /// Opens a line, unless one of the same upstream is open.
  void open(const repo_listed& seen, repo_turn& t) {
    for (const auto& x : open_)
      if (x.seen.upstream == seen.upstream)
        return;
    keep({seen, t.now.wall, t.now.steady + t.settings.listing_grace,
          t.now.steady + limits::listing_wait_max},
         t);
  }

  /// Keeps it until it is due.
  void keep(open_line x, repo_turn& t) {
    t.arm(x.due);
    open_.push_back(std::move(x));
  }

  /// Takes out all of them.
  std::vector<open_line> take() noexcept { return std::exchange(open_, {}); }

  /// Something newer is known than what this upstream listed; 0: the host.
  void close(uint32_t by, const upstream_board& board) {
    std::erase_if(open_, [&](const open_line& x) {
      return by == 0 ? !board.find(x.seen.upstream).relay
                     : x.seen.upstream == by;
    });
  }

private:
  std::vector<open_line> open_;
};

/// Decides whether an account is active, from what its host, relays and the
/// directory report (protocol-coverage.md 4.1), and what a change means for the
/// copy: the repo of an account that returns is fetched, that of a deleted
/// account is purged (protocol-coverage.md 4.t5).
class account_rules {
public:
  account_rules(fetch_job& job, sync_state& sync, identity_view& identity,
                repo_chain& chain, host_question& question,
                open_lines& listed) noexcept
    : job_(job), sync_(sync), identity_(identity), chain_(chain),
      question_(question), listed_(listed) {}

  /// The row was loaded. If events were not judged and the account is inactive,
  /// its host is asked, as no fetch would show that the account is active
  /// again. A rev that a listing named and no event has brought is awaited
  /// anew, unless our clock is behind it.
  void resume(repo_turn& t) {
    if (t.row.gap && t.row.account != storage::account_status::active)
      recheck_inactive(t);
    const auto by = t.board().accounting_for(t.row.pds).id;
    if (by != 0 && sync_.takes_commits(t.row)
        && t.row.last_indexed_rev.defined()
        && !atproto::in_future(t.row.first_rev, t.now.wall)
        && completeness::needs_index(t.row, chain_.rev())
        && !completeness::lacks_named_rev(t.row, t.now.wall))
      listed_.open({t.lane.repo(), t.row.first_rev, t.row.account, t.row.fcsr,
                    by},
                   t);
  }

  void begin_life() noexcept {
    question_.begin_life();
    chain_.forget();
  }

  void end_life() noexcept { listed_ = {}; }

  /// Processes what an #account event or a listing reports.
  /// @pre the event was not processed before
  void hear(const account_sources::saying& what, repo_turn& t) {
    const auto own = account_sources::has_own_stream(t.board(), t.row.pds);
    const auto heard = account_sources::hear(t.row.words, what, own);
    if (account_sources::forget_strangers(t.row.words, t.board())
        || heard.changed)
      t.touch_row();
    if (!what.listed)
      question_.note_event();
    follow_words(t, what.at.upstream);
    if (!what.listed
        && account_sources::denies_tombstone(t.row.words, what.said, what.relay,
                                             own))
      identity_.dispute(t);
    if (heard.ask)
      question_.want(t);
  }

  /// Processes what the directory reports: the identity exists, or it has a
  /// tombstone. Only a second tombstone answer, minutes after the first, erases
  /// the copy, because the directory may be wrong.
  void hear_directory(const storage::identity_row& x, repo_turn& t) {
    const auto was_said = gone_.said();
    const auto twice = gone_.hear(x, t.settings.gone_grace);
    const auto loses = chain_.rev().defined() && !t.row.words.tombstoned;
    if (x.tombstoned && loses && !twice) {
      if (!was_said)
        identity_.dispute(t);
      return;
    }
    const auto changed
      = account_sources::note_identity(t.row.words, x.tombstoned);
    if (!x.tombstoned && (changed || was_said) && t.row.refused_by == 0)
      // The tombstone was the evidence against the document.
      identity_.end_dispute();
    if (!changed)
      return;
    t.touch_row();
    follow_words(t);
  }

  /// Sets the account's status to the one that follows from all reports.
  /// @param by The upstream that reported a change; 0: the host when it was
  ///        asked, or the directory.
  void follow_words(repo_turn& t, uint32_t by = 0) {
    const auto status = storage::combined(t.row.words);
    if (status == t.row.account)
      return;
    t.count(repo_counter::account_changed);
    listed_.close(by, t.board());
    const auto said_by_host
      = t.row.words.host != storage::account_status::active;
    if (t.row.words.tombstoned || (said_by_host && chain_.rev().defined()))
      // A former host may have reported it, or the directory may be wrong.
      identity_.dispute(t);
    t.row.account = status;
    t.touch_row();
    if (status == storage::account_status::active) {
      t.lane.append_fact(storage::account_scope, t.row, t.now);
      sync_.come_back(t);
      return;
    }
    if (job_.runs()) {
      job_.end(fail(ec::account_inactive, storage::to_string(status)), t);
      sync_.leave_fetch(t);
    }
    if (t.row.status == storage::repo_status::error)
      sync_.forget_failure(t);
    if (status == storage::account_status::deleted)
      purge(t);
    t.lane.append_fact(storage::account_scope, t.row, t.now);
  }

  /// Removes the reports of relays that the node no longer follows, because
  /// those relays can no longer withdraw them.
  void forget_strangers(repo_turn& t) {
    if (!account_sources::forget_strangers(t.row.words, t.board()))
      return;
    t.touch_row();
    follow_words(t);
  }

  /// A fetch was requested while the account is inactive (SYNC-33). Its current
  /// status decides whether there is anything to fetch, so its host is asked,
  /// and also the directory if that has a tombstone.
  void resync(repo_turn& t) {
    question_.want_now();
    if (t.row.words.tombstoned)
      identity_.want();
    identity_.try_refresh(t);
    question_.ask(t);
  }

  /// Commits arrive although the account is inactive, so the status may be
  /// wrong. The host is asked, unless only a relay calls the account inactive.
  void recheck_inactive(repo_turn& t) {
    if (t.row.words.tombstoned)
      identity_.dispute(t);
    if (t.row.words.host != storage::account_status::active)
      question_.want(t);
  }

private:
  void purge(repo_turn& t) {
    t.lane.erase();
    ++t.row.incarnation;
    t.row.last_indexed_rev = {};
    sync_.forget_failure(t);
    completeness::forget(t.row);
    needed_rev::settle(t.row);
    question_.forget_not_found(t);
    chain_.forget();
  }

  fetch_job& job_;
  sync_state& sync_;
  identity_view& identity_;
  repo_chain& chain_;
  host_question& question_;
  open_lines& listed_;
  tombstone_words gone_; ///< Tombstone answers of the directory.
};

} // namespace weir::actors
