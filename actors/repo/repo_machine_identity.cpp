#include "actors/repo/limits.hpp"
#include "actors/repo/repo_machine.hpp"
#include "actors/support/limits.hpp"
#include "storage/format/account_fact.hpp"

#include <utility>

/// Which document a repo judges by, and what becomes of frames that need a
/// newer one (protocol-coverage.md 2.1.2, 2.5.6, 4).
namespace weir::actors {

using storage::account_status;
using storage::repo_status;

namespace {

/// What the #account says waits for a document; the frame goes.
void hold_word(identity_doubt& doubt, const waiting_frame& x) {
  if (const auto event = atproto::decode_frame(x.frame.bytes.view()))
    if (const auto* said = std::get_if<atproto::account_event>(&*event))
      doubt.hold(account_sources::told_by(x.frame, *said));
}

/// The frame makes a look-up necessary, or also the one that is awaited.
void note_cause(refresh_pace& pace, const waiting_frame& x, bool awaited,
                repo_effects& out) {
  const auto other = pace.set_cause(x.frame.relay ? 0 : x.frame.at.upstream);
  out.identity_cause = pace.cause();
  out.share_identity |= other && awaited;
}

} // namespace

// -- look-ups -----------------------------------------------------------------

void repo_machine::ask_identity(repo_effects& out) {
  if (identity_ || identity_pending_)
    return;
  identity_pending_ = true;
  out.load_identity = true;
  out.identity_asked = ++asked_;
  out.identity_cause = pace_.cause();
}

void repo_machine::refresh_identity(now_time now, repo_effects& out) {
  identity_pending_ = true;
  pace_.spend(now.steady);
  out.refresh_identity = true;
  out.identity_asked = asked_anew_ = ++asked_;
  out.identity_cause = pace_.cause();
}

/// What is wished for: now, after the answer that is awaited, or as soon as the
/// bound allows.
void repo_machine::try_refresh(now_time now, repo_effects& out) {
  if (pace_.retry.take(now.steady))
    pace_.wanted = true;
  if (pace_.retry.due())
    arm(*pace_.retry.due(), out);
  if (!pace_.wanted || identity_pending_)
    return;
  if (pace_.may(now.steady, settings_->refresh_min))
    refresh_identity(now, out);
  else
    arm(pace_.due(settings_->refresh_min), out);
}

/// A hint only: resolve anew, at most once in a while (protocol-coverage.md 4).
/// The frame is finished when the row says so, and outlives a crash as that.
void repo_machine::take_hint(const waiting_frame& x, now_time now,
                             repo_effects& out) {
  note_cause(pace_, x, identity_pending_, out);
  pace_.wanted = true;
  pace_.retry.begin();
  if (!std::exchange(row_.identity_due, true))
    touch_row();
  hurry_fetch(now, out);
  settle(x, out);
  try_refresh(now, out);
}

void repo_machine::end_look_up() {
  if (!pace_.wanted && !doubt_.open() && !pace_.retry.outlives_crash()
      && std::exchange(row_.identity_due, false))
    touch_row();
}

// -- frames in doubt ----------------------------------------------------------

/// Opens the doubt, for a crash as well: the row says that something was not
/// judged, and that a document is to be looked up.
void repo_machine::mark_doubt() {
  doubt_.begin();
  if (row_.gap && row_.identity_due)
    return;
  row_.gap = row_.identity_due = true;
  touch_row();
}

/// The doubt is open only because all look-ups of a while were made, and
/// answered: whoever made them necessary pays for what they did not prove.
bool repo_machine::is_document_new() const noexcept {
  return !identity_pending_ && !pace_.failing();
}

/// Everything was judged.
void repo_machine::end_gap() {
  if (takes_commits() && !doubt_.open() && !refetch_.gap_due()
      && std::exchange(row_.gap, false))
    touch_row();
}

/// `x` is refused by the document that is known. One that is newer than `x` may
/// say otherwise; no frame holds its upstream for longer than
/// `limits::repo_wait_max` because of that.
repo_machine::judgement repo_machine::judge_anew(waiting_frame& x, now_time now,
                                                 repo_effects& out) {
  if (x.buffered && kept_.judging)
    return judgement::stands; // It waited for this document.
  note_cause(pace_, x, identity_pending_, out);
  if (!identity_pending_ && !x.doubted && !doubt_.keeping()) {
    if (!identity_ && !pace_.failing()) {
      x.doubted = true;
      ask_identity(out);
    } else if (identity_ && pace_.may(now.steady, settings_->refresh_min)) {
      x.doubted = true;
      refresh_identity(now, out);
    }
  }
  const auto until = x.since + limits::repo_wait_max;
  if (identity_pending_ && !doubt_.keeping() && now.steady < until) {
    arm(until, out);
    return judgement::awaited;
  }
  if (!x.buffered && (identity_pending_ || pace_.failing()
                      || is_gone_in_doubt(identity_, row_)))
    return judgement::needed;
  if (x.buffered || !x.doubted) {
    // Refused without a newer document: refreshes are spent. If the key or host
    // changes, the repo is fetched.
    mark_doubt();
    pace_.wanted = true;
    try_refresh(now, out);
  }
  return judgement::stands;
}

/// Keeps `x` until a newer document is there: an #account here, a commit in the
/// sync buffer.
repo_machine::step repo_machine::leave_in_doubt(waiting_frame& x,
                                                judgement how, now_time now,
                                                repo_effects& out) {
  if (how == judgement::awaited)
    return step::wait;
  const auto is_account = x.frame.kind == atproto::frame_kind::account;
  if (!is_account && (job_ || kept_.judging))
    return step::wait; // For the end of what is being drained.
  if (!doubt_.open())
    count(repo_counter::identity_unresolved, out);
  mark_doubt();
  if (!identity_ || !identity_pending_)
    pace_.wanted = true;
  try_refresh(now, out);
  if (is_account) {
    settle(x, out);
    hold_word(doubt_, x);
    return step::taken;
  }
  doubt_.keep_frames(x.frame.at.upstream);
  buffer(std::move(x), now, out);
  arm(now.steady + limits::doubt_check_interval, out);
  return step::taken;
}

/// protocol-coverage.md 2.1.2: on a PDS's stream only its own accounts count,
/// by a document that is newer than the frame. Without one, signed commits of
/// the known host count, its word on the account does not: after a migration
/// both hosts speak.
/// @returns nothing when the frame is to be judged by what it says.
std::optional<repo_machine::step>
repo_machine::check_host(waiting_frame& x, const upstream_board& board,
                         now_time now, repo_effects& out) {
  const auto is_account = x.frame.kind == atproto::frame_kind::account;
  if (!identity_) {
    const auto how = judge_anew(x, now, out);
    if (how != judgement::stands)
      return leave_in_doubt(x, how, now, out);
    count(repo_counter::identity_unresolved, out);
    if (takes_commits())
      desync("there is no document of the identity", now, out);
    settle(x, out);
    return step::taken;
  }
  if (x.frame.relay)
    return std::nullopt;
  if (identity_->pds == board.find(x.frame.at.upstream).origin) {
    // It may not be the newest: one is awaited, or could not be had.
    if (x.buffered || !(identity_pending_ || pace_.open()))
      return std::nullopt;
    const auto until = x.since + limits::repo_wait_max;
    if (identity_pending_ && !doubt_.keeping() && now.steady < until) {
      arm(until, out);
      return step::wait;
    }
    if (!is_account)
      return std::nullopt;
    return leave_in_doubt(x, judgement::needed, now, out);
  }
  const auto how = judge_anew(x, now, out);
  if (how != judgement::stands)
    return leave_in_doubt(x, how, now, out);
  count(repo_counter::wrong_host, out);
  note_other_host(x, identity_->pds, out);
  doubt_.regret();
  if (note_refusal(row_, *identity_))
    touch_row();
  if (!doubt_.open() || is_document_new())
    charge(x, out);
  doubt_document(now, out);
  settle(x, out);
  if (is_account)
    hold_word(doubt_, x);
  return step::taken;
}

doubt_bytes repo_machine::doubted() const noexcept {
  // Of repos that are fetched there are few at a time.
  if (job_ || !doubt_.keeping())
    return {};
  return {kept_.bytes, kept_.disk_bytes};
}

/// As a crash would: what is kept goes, and a fetch brings it.
repo_effects repo_machine::on_no_room(now_time now) {
  repo_effects out;
  if (job_ || !doubt_.keeping())
    return out;
  count(repo_counter::buffer_overflow, out);
  if (takes_commits())
    desync("there is no room for events that wait for a document", now, out);
  else
    drop_buffer();
  row_.gap = true;
  touch_row();
  if (!inbox_.empty())
    arm(now.steady, out);
  flush(out);
  return out;
}

// -- answers ------------------------------------------------------------------

/// A document is there that was asked for after all that waits for it: what was
/// kept is judged by it, in the order it came.
void repo_machine::end_doubt(const upstream_board& board, now_time now,
                             repo_effects& out) {
  pace_.answered();
  const auto word = doubt_.take_word([&](uint32_t upstream) {
    return board.find(upstream).origin == identity_->pds;
  });
  if (word)
    obey_event(*word, board, now, out);
  const auto kept = doubt_.close();
  if (kept && !job_ && takes_commits()) {
    kept_.judging = true;
    if (!drains_disk())
      take_memory_buffer();
    return;
  }
  if (kept && !job_)
    drop_buffer(); // The account was away since: a fetch contains them.
  if (!kept_.judging)
    end_gap();
}

void repo_machine::take_no_identity(const identity_answer& x, bool last,
                                    const upstream_board& board, now_time now,
                                    repo_effects& out) {
  const auto& why = x.fact.error();
  // A directory keeps every document that it had. One that does not find it any
  // more has not answered. Whoever asked for a new one has not read the old one.
  const auto was_known = identity_
                         || (asked_ == asked_anew_ && !has_no_document_
                             && !row_.pds.empty());
  const auto unknown = why.code == ec::not_found && !was_known;
  const auto passes = was_known || why.code == ec::unreachable
                      || why.code == ec::limit_reached;
  if (unknown) {
    pace_.answered();
    has_no_document_ = true;
    doubt_.forget_words(); // No host can speak for it.
    if (doubt_.open())
      give_up_kept(now, out);
  } else {
    pace_.failed(std::max(x.not_before,
                          now.steady + limits::lookup_pause_min));
    pace_.retry.unanswered(now.steady);
  }
  // Who wanted a newer document goes on to want it: what a listing says of the
  // repo waits for the answer, or what its host says.
  if ((identity_ && !pace_.retry.waits())
      || ((row_.identity_due || host_word_) && passes)
      || (doubt_.open() && !unknown))
    pace_.wanted = true; // Later.
  else if (last)
    end_look_up();
  try_refresh(now, out);
  if (std::exchange(prepare_pending_, false)) {
    out.ready = fetch_ready{{}, why};
    fail_job(now, out, {why, std::nullopt});
  } else if (doubt_.resume() && wants_fetch()) {
    fail_job(now, out, {why, std::nullopt});
  }
  pump(board, now, out);
}

/// Takes note of a document.
/// @returns whether it names another key or host than the last one.
bool repo_machine::learn(const storage::identity_row& fact, bool last,
                         now_time now, repo_effects& out) {
  const auto known_key = identity_ ? identity_->signing_key : fact.signing_key;
  const auto unheard
    = !identity_ && row_.refused_by != 0 && row_.refused_by != key_mark(fact);
  const auto moved = !row_.pds.empty() && row_.pds != fact.pds;
  if (!identity_ || known_key != fact.signing_key) {
    auto key = atproto::public_key::from_multikey(fact.signing_key);
    key_ = key ? std::move(*key) : atproto::public_key{};
  }
  identity_ = fact;
  if (row_.pds != fact.pds) {
    row_.identity_due |= !last;
    move_host(fact.pds);
    if (wants_fetch() && !prepare_pending_ && !fact.pds.empty())
      out.wish = fetch_wish{row_.status, row_.next_retry}; // Among that host's.
  }
  const auto handle = storage::handle_or_none(fact.handle);
  if (row_.handle != handle && (last || !awaits_handle(row_, fact))) {
    row_.handle = handle;
    count(repo_counter::identity_changed, out);
    append_fact(storage::identity_scope, now);
    touch_row();
  }
  if (!last && is_unconfirmed(fact) && !std::exchange(row_.identity_due, true))
    touch_row(); // Whoever starts after a crash has the handle checked.
  hear_tombstone(fact, now, out);
  return moved || unheard || known_key != fact.signing_key;
}

/// Another key or host: what was refused before may have been true, and a fetch
/// that failed by the old ones may succeed.
void repo_machine::take_change(now_time now, repo_effects& out) {
  if (doubt_.regrets() && (takes_commits() || job_))
    desync("the key or host changed after events were refused", now, out);
  else if (row_.status == repo_status::error
           && row_.account == account_status::active)
    wish_fetch(now, out);
  doubt_.settle();
  if (std::exchange(row_.refused_by, 0) != 0)
    touch_row();
}

repo_effects repo_machine::on_identity(const identity_answer& x,
                                       const upstream_board& board,
                                       now_time now) {
  repo_effects out;
  const auto last = x.last && x.asked == asked_;
  answered_ = last ? asked_ : answered_;
  const auto newest = x.settled && x.asked == asked_;
  const auto anew = asked_ == asked_anew_;
  identity_pending_ = !newest && anew;
  if (!loaded_ || !exists_)
    return out;
  if (!x.fact) {
    identity_pending_ = false;
    take_no_identity(x, last, board, now, out);
    return out;
  }
  const auto had_handle = storage::has_handle(row_);
  if (learn(*x.fact, last, now, out)) {
    take_change(now, out);
    if (!x.fact->tombstoned) // Which is a doubt itself.
      pace_.retry.settle();
  }
  if (last && !pace_.wanted) // Or it is looked up anew all the same.
    pace_.retry.hear(is_unconfirmed(*x.fact), !x.checked || had_handle,
                     now.steady);
  take_host_word(x, now, out);
  if (newest && anew && !is_gone_in_doubt(identity_, row_)
      && (!pace_.wanted || !pace_.may(now.steady, settings_->refresh_min)))
    end_doubt(board, now, out);
  if (last)
    end_look_up();
  ask_host(now, out);
  try_refresh(now, out);
  continue_fetch(now, out);
  pump(board, now, out);
  return out;
}

} // namespace weir::actors
