#include "actors/repo/identity_view.hpp"

#include "actors/support/limits.hpp"
#include "base/stored_time.hpp"
#include "storage/format/account_fact.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

void identity_view::resume(repo_turn& t) {
  if (t.row.identity_due) {
    // The known answer comes first: an outage must not prevent the look-up.
    pace_.wanted = true;
    if (t.row.refused_by != 0 || t.row.words.tombstoned)
      pace_.retry.expect(t.now.steady);
    else
      pace_.retry.begin();
    ask(t);
  }
  if (t.row.refused_by != 0)
    wait_.regret();
  if (t.row.gap && t.row.identity_due) {
    wait_.begin();
    wait_.regret(); // What the last life decided is not known.
  }
}

bool identity_view::is_current(const now_time& now) const {
  return document_
         && age_of(document_->fetched_at, now.wall)
              <= limits::identity_current.count();
}

bool identity_view::holds_up(const waiting_frame& x, repo_turn& t) const {
  const auto until = x.since + limits::repo_wait_max;
  if (!pending_ || wait_.keeping() || t.now.steady >= until)
    return false;
  t.arm(until);
  return true;
}

document_judgement identity_view::judge_anew(waiting_frame& x, repo_turn& t) {
  note_cause(x, t);
  if (!pending_ && !x.refreshed && !wait_.keeping()) {
    if (!document_ && !pace_.failing()) {
      x.refreshed = true;
      ask(t);
    } else if (document_ && pace_.may(t.now.steady, t.settings.refresh_min)) {
      x.refreshed = true;
      refresh(t);
    }
  }
  if (holds_up(x, t))
    return document_judgement::awaited;
  if (!x.buffered
      && (pending_ || pace_.failing() || is_newly_gone(document_, t.row)))
    return document_judgement::needed;
  if (x.buffered || !x.refreshed) {
    // No more look-ups are allowed now. If the key or host changes later, the
    // repo is fetched.
    begin_wait(t);
    look_up(t);
  }
  return document_judgement::stands;
}

void identity_view::begin_wait(repo_turn& t) {
  wait_.begin();
  t.set(t.row.gap, true);
  t.set(t.row.identity_due, true);
}

void identity_view::remember_refusal(repo_turn& t) {
  wait_.regret();
  if (t.row.refused_by == 0)
    t.set(t.row.refused_by, key_mark(*document_));
}

void identity_view::ask(repo_turn& t) {
  if (document_ || pending_)
    return;
  pending_ = true;
  t.out.load_identity = true;
  t.out.identity_asked = ++asked_;
  t.out.identity_cause = pace_.cause();
}

void identity_view::refresh(repo_turn& t) {
  pending_ = true;
  pace_.spend(t.now.steady);
  t.out.refresh_identity = true;
  t.out.identity_asked = asked_anew_ = ++asked_;
  t.out.identity_cause = pace_.cause();
}

void identity_view::try_refresh(repo_turn& t) {
  if (pace_.retry.take(t.now.steady))
    pace_.wanted = true;
  if (pace_.retry.due())
    t.arm(*pace_.retry.due());
  if (!pace_.wanted || pending_)
    return;
  if (pace_.may(t.now.steady, t.settings.refresh_min))
    refresh(t);
  else
    t.arm(pace_.due(t.settings.refresh_min));
}

void identity_view::look_up_for_sure(repo_turn& t) {
  t.set(t.row.identity_due, true);
  look_up(t);
}

void identity_view::expect_change(repo_turn& t) {
  pace_.wanted = true;
  pace_.retry.begin();
  t.set(t.row.identity_due, true);
}

void identity_view::dispute(repo_turn& t) {
  pace_.retry.expect(t.now.steady);
  if (pace_.retry.outlives_crash())
    t.set(t.row.identity_due, true);
  try_refresh(t);
}

void identity_view::recheck_tombstone(repo_turn& t) {
  if (!t.row.words.tombstoned)
    return;
  constexpr std::chrono::seconds pause = limits::identity_fresh;
  ask(t); // Looks up a document that is older than `pause`.
  if (document_ && age_of(document_->fetched_at, t.now.wall) >= pause.count())
    look_up(t);
}

void identity_view::refresh_if_free(repo_turn& t) {
  if (!document_ || pending_
      || !pace_.may(t.now.steady, t.settings.refresh_min))
    return;
  pace_.set_cause(0);
  refresh(t);
}

void identity_view::note_cause(const waiting_frame& x, repo_turn& t) {
  const auto other = pace_.set_cause(x.frame.relay ? 0 : x.frame.at.upstream);
  t.out.identity_cause = pace_.cause();
  t.out.share_identity |= other && pending_;
}

void identity_view::end_look_up(repo_turn& t) {
  if (!pace_.wanted && !wait_.open() && !pace_.retry.outlives_crash())
    t.set(t.row.identity_due, false);
}

identity_view::standing identity_view::hear(const identity_answer& x) noexcept {
  const auto last = x.last && x.asked == asked_;
  if (last)
    answered_ = asked_;
  const auto newest = x.settled && x.asked == asked_;
  const auto anew = asked_ == asked_anew_;
  pending_ = !newest && anew;
  return {last, newest && anew};
}

bool identity_view::adopt(identity_answer& x, repo_turn& t) {
  const auto is_news = x.fact && (!document_
                                  || x.fact->fetched_at > document_->fetched_at);
  if (!is_news && (document_ || asking()))
    return false;
  // IDENTITY also sends what SUPERVISOR's answer did not contain.
  if (!asking() && !x.last) {
    t.out.load_identity = true;
    t.out.identity_asked = ++asked_;
    t.out.identity_cause = pace_.cause();
  } else if (!asking()) {
    answered_ = ++asked_;
  }
  if (asking())
    x.last = x.settled = false;
  x.asked = asked_;
  return true;
}

void identity_view::set_key(const storage::identity_row& x) {
  auto key = atproto::public_key::from_multikey(x.signing_key);
  key_ = key ? std::move(*key) : atproto::public_key{};
}

identity_view::difference identity_view::learn(const storage::identity_row& x,
                                               bool last, repo_turn& t) {
  const auto other_key = document_ && document_->signing_key != x.signing_key;
  const auto unheard
    = !document_ && t.row.refused_by != 0 && t.row.refused_by != key_mark(x);
  const auto moved = !t.row.pds.empty() && t.row.pds != x.pds;
  const difference out{other_key || unheard || moved, t.row.pds != x.pds, moved,
                       storage::has_handle(t.row)};
  if (!document_ || other_key)
    set_key(x);
  document_ = x;
  if (out.host) {
    t.row.pds = x.pds;
    t.row.identity_due |= !last;
    t.touch_row();
  }
  const auto handle = storage::handle_or_none(x.handle);
  if (t.row.handle != handle && (last || !awaits_handle(t.row, x))) {
    t.row.handle = handle;
    t.count(repo_counter::identity_changed);
    t.lane.append_fact(storage::identity_scope, t.row, t.now);
    t.touch_row();
  }
  if (!last && is_unconfirmed(x)) // A crash must not prevent the check.
    t.set(t.row.identity_due, true);
  return out;
}

void identity_view::plan_next(const identity_answer& x, bool last,
                              bool had_handle, repo_turn& t) {
  if (last && !pace_.wanted) // Otherwise a new look-up follows anyway.
    pace_.retry.hear(is_unconfirmed(*x.fact), !x.checked || had_handle,
                     t.now.steady);
}

bool identity_view::ends_wait(const standing& x, const repo_turn& t) const {
  return x.newest && !is_newly_gone(document_, t.row)
         && (!pace_.wanted || !pace_.may(t.now.steady, t.settings.refresh_min));
}

/// Whether there was a document before: a directory keeps every document, so
/// "not found" is then no answer. When a new one was requested, the cache was
/// not read; a host in the row then shows that there was one.
bool identity_view::was_known(const storage::repo_row& row) const noexcept {
  return document_
         || (asked_ == asked_anew_ && !has_no_document_ && !row.pds.empty());
}

bool identity_view::is_unknown(const identity_answer& x,
                               const storage::repo_row& row) const noexcept {
  return x.fact.error().code == ec::not_found && !was_known(row);
}

bool identity_view::take_failure(const identity_answer& x, repo_turn& t) {
  pending_ = false;
  if (is_unknown(x, t.row)) {
    pace_.answered();
    has_no_document_ = true;
    return true;
  }
  pace_.failed(std::max(x.not_before, t.now.steady + limits::lookup_pause_min));
  pace_.retry.unanswered(t.now.steady);
  return false;
}

/// If a newer document was wanted, it stays wanted, because what a listing or a
/// host reports about the account waits for the answer.
void identity_view::go_on_wanting(const identity_answer& x, bool last,
                                  bool word_waits, repo_turn& t) {
  const auto code = x.fact.error().code;
  const auto passes
    = was_known(t.row) || code == ec::unreachable || code == ec::limit_reached;
  if ((document_ && !pace_.retry.waits())
      || ((t.row.identity_due || word_waits) && passes)
      || (wait_.open() && !is_unknown(x, t.row)))
    pace_.wanted = true; // The look-up is made as soon as the pause is over.
  else if (last)
    end_look_up(t);
  try_refresh(t);
}

} // namespace weir::actors
