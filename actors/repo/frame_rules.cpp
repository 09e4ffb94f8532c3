#include "actors/repo/frame_rules.hpp"

#include "actors/repo/repo_clock.hpp"

#include <utility>

namespace weir::actors {

using storage::account_status;

namespace {

atproto::tid rev_of(const atproto::frame_event& x) noexcept {
  if (const auto* commit = std::get_if<atproto::commit_event>(&x))
    return commit->rev;
  const auto* sync = std::get_if<atproto::sync_event>(&x);
  return sync != nullptr ? sync->rev : atproto::tid{};
}

/// Whether the frame came on the stream of the account's host.
bool is_from_host(const waiting_frame& x, const repo_turn& t) {
  return t.board().speaks_for(t.row.pds, x.frame.at.upstream);
}

/// Whether the frame waited for a correct clock and must wait on.
bool still_ahead(waiting_frame& x, atproto::tid rev, repo_turn& t) {
  return x.ahead && atproto::in_future(rev, t.now.wall)
         && awaits_clock(x, rev, t);
}

} // namespace

frame_step frame_rules::take(waiting_frame& x, repo_turn& t) {
  if (x.frame.bytes.size() == 0)
    return take_poison(x, t);
  const auto decoded = atproto::decode_frame(x.frame.bytes.view());
  if (!decoded)
    return take_malformed(x, t);
  if (std::holds_alternative<atproto::identity_event>(*decoded))
    return take_identity(x, t);
  return needs_nothing(x, *decoded, t) ? t.settle(x) : judge(x, *decoded, t);
}

void frame_rules::give_way(repo_turn& t) {
  if (inbox_.empty() || !inbox_.front().ahead
      || verdict_on_clock(t.now) != clock_verdict::hearing)
    return;
  const auto gives_way = [&t](const waiting_frame& x) {
    return !x.buffered && t.board().gives_way(x.frame.at);
  };
  if (inbox_.any_of(gives_way))
    sync_.desync(std::string{to_string(atproto::verdict::future_rev)}
                   + ": there was no room to wait for a right clock",
                 t);
}

// -- what is judged without a document ----------------------------------------

/// The frame had ended the process, so its UPSTREAM skipped its content, which
/// a fetch brings. A repo that is not indexed yet is fetched anyhow.
frame_step frame_rules::take_poison(const waiting_frame& x, repo_turn& t) {
  t.count(repo_counter::poison);
  if (sync_.takes_commits(t.row) || job_.runs()) {
    // The frame may have been an #identity event.
    identity_.look_up_for_sure(t);
    sync_.desync("an event that had ended the process was skipped", t);
  }
  return t.settle(x);
}

frame_step frame_rules::take_malformed(const waiting_frame& x, repo_turn& t) {
  t.count(repo_counter::bad_shape);
  if (is_from_host(x, t))
    sync_.open_gap(t);
  t.charge(x);
  return t.settle(x);
}

/// An #identity event is only a hint: the identity is looked up. The frame is
/// finished when the row says that this is due, which survives a crash.
frame_step frame_rules::take_identity(const waiting_frame& x, repo_turn& t) {
  identity_.note_cause(x, t);
  identity_.expect_change(t);
  sync_.hurry_fetch(t);
  identity_.try_refresh(t);
  return t.settle(x);
}

/// Whether the frame changes nothing, whoever sent it. Such frames do not wait
/// for an identity: otherwise each would hold up its stream.
bool frame_rules::needs_nothing(const waiting_frame& x,
                                const atproto::frame_event& event,
                                repo_turn& t) {
  if (std::holds_alternative<atproto::account_event>(event)) {
    if (!account_sources::was_heard(t.row.words, x.frame.at))
      return false;
    t.count(repo_counter::replayed);
  } else if (t.row.account != account_status::active) {
    t.count(repo_counter::inactive_account);
    account_.recheck_inactive(t);
  } else if (!job_.runs() && !sync_.takes_commits(t.row)) {
    t.count(repo_counter::out_of_sync);
    note_missed(x, rev_of(event), t);
    sync_.hurry_fetch(t);
  } else {
    return false;
  }
  return true;
}

/// The downloads of a host may lag behind its own stream, so the next fetch
/// must reach this rev. The row is not written only for this, as the first
/// backfill misses many.
void frame_rules::note_missed(const waiting_frame& x, atproto::tid rev,
                              repo_turn& t) {
  if (!x.frame.relay && is_from_host(x, t)
      && !atproto::in_future(rev, t.now.wall))
    needed_rev::require(t.row, rev, false);
}

frame_step frame_rules::judge(waiting_frame& x,
                              const atproto::frame_event& event, repo_turn& t) {
  const auto* account = std::get_if<atproto::account_event>(&event);
  if (account == nullptr && job_.runs() && !job_.drains()) {
    sync_.keep(std::move(x), t); // It is judged after the fetch (SYNC-26).
    return step::taken;
  }
  if (account == nullptr || !x.frame.relay)
    if (const auto done = gate_.check_host(x, t))
      return *done;
  if (const auto* commit = std::get_if<atproto::commit_event>(&event))
    return take_commit(x, *commit, t);
  if (const auto* sync = std::get_if<atproto::sync_event>(&event))
    return take_sync(x, *sync, t);
  if (account != nullptr) {
    wait_.forget_word(x.frame.at.upstream);
    account_.hear(account_sources::said_by(x.frame, *account), t);
  }
  return t.settle(x);
}

// -- commits and #sync --------------------------------------------------------

frame_step frame_rules::take_commit(waiting_frame& x,
                                    const atproto::commit_event& event,
                                    repo_turn& t) {
  if (event.rev <= chain_.rev())
    return take_replay(x, event, t);
  if (still_ahead(x, event.rev, t))
    return step::wait;
  const auto verified
    = atproto::verify_commit(x.frame.bytes, event, identity_.key(), t.now.wall);
  if (!verified)
    return refuse(x, verified.error(), false, t);
  note_rev(x, event.rev, t);
  if (!chain_.is_followed_by(*verified)) {
    t.count(repo_counter::chain_broken);
    needed_rev::require(t.row, verified->rev, true);
    sync_.desync(verified->prev_data.defined() ? "prevData is not our data root"
                                               : "a commit without prevData",
                 t);
  } else {
    chain_.apply(x, *verified, kept_.filter(t.settings), t);
    note_applied(x, verified->rev, t);
  }
  return t.settle(x);
}

/// Another upstream delivered the newest rev first. When the upstream that
/// accounts for the repo delivers it, too, that is a proof.
frame_step frame_rules::take_replay(const waiting_frame& x,
                                    const atproto::commit_event& event,
                                    repo_turn& t) {
  t.count(repo_counter::replayed);
  if (event.rev == chain_.rev() && proof_.is_first_word(x, t)) {
    const auto again = atproto::verify_commit(x.frame.bytes, event,
                                              identity_.key(), t.now.wall);
    if (again && again->data == chain_.data())
      proof_.note_event(x, event.rev, t);
  }
  return t.settle(x);
}

frame_step frame_rules::take_sync(waiting_frame& x,
                                  const atproto::sync_event& event,
                                  repo_turn& t) {
  if (event.rev < chain_.rev()) {
    t.count(repo_counter::replayed);
    return t.settle(x);
  }
  if (still_ahead(x, event.rev, t))
    return step::wait;
  const auto verified
    = atproto::verify_sync(x.frame.bytes, event, identity_.key(), t.now.wall);
  if (!verified)
    return refuse(x, verified.error(), true, t);
  note_rev(x, event.rev, t);
  if (verified->data != chain_.data()) {
    t.count(repo_counter::chain_broken);
    needed_rev::require(t.row, verified->rev, true);
    sync_.desync("#sync shows another data root", t);
  } else if (verified->rev == chain_.rev()) {
    t.count(repo_counter::sync_noop);
    // The copy has this already: a proof.
    proof_.note_event(x, verified->rev, t);
  } else {
    t.count(repo_counter::sync_applied);
    chain_.apply(*verified, t);
    note_applied(x, verified->rev, t);
  }
  return t.settle(x);
}

/// A commit that follows on the copy need not wait for older frames that are
/// kept for a document, because it is signed by the known key. But if another
/// key comes, one of the kept frames may be the valid one.
void frame_rules::note_applied(const waiting_frame& x, atproto::tid rev,
                               repo_turn& t) {
  sync_.close_gap(t);
  if (wait_.keeping() && !x.buffered)
    wait_.regret();
  proof_.note_event(x, rev, t);
}

// -- what does not verify -----------------------------------------------------

/// protocol-coverage.md 2.5.3 to 2.5.9, 3.5
frame_step frame_rules::refuse(waiting_frame& x, const atproto::refusal& why,
                               bool is_sync, repo_turn& t) {
  const auto is_ahead = why.why == atproto::verdict::future_rev;
  if (is_ahead && awaits_clock(x, why.ahead, t))
    return step::wait;
  if (why.why == atproto::verdict::bad_signature) {
    if (const auto waits = gate_.check_refusal(x, t))
      return *waits;
    identity_.remember_refusal(t);
    identity_.dispute(t);
  }
  // The refusal leads to a fetch.
  needed_rev::require(t.row, why.signed_rev, true);
  inbox_.note_refusal();
  if (identity_.may_blame())
    t.charge(x);
  if (is_sync && !is_ahead) {
    // A PDS sends such a #sync after every migration: never a desync.
    t.count(repo_counter::sync_refused);
  } else {
    t.out.news.refused.push_back({x.frame.at.upstream, why});
    follow_refusal(x, why, t);
  }
  return t.settle(x);
}

void frame_rules::follow_refusal(const waiting_frame& x,
                                 const atproto::refusal& why, repo_turn& t) {
  using atproto::verdict;
  switch (why.why) {
    case verdict::bad_shape:
      t.count(repo_counter::bad_shape);
      if (is_from_host(x, t))
        sync_.open_gap(t);
      break;
    case verdict::future_rev:
      // The account signed it, so our copy is not what the account has.
      t.count(repo_counter::future_rev);
      sync_.desync(to_string(why.why) + (": " + why.reason), t);
      break;
    case verdict::bad_signature:
      t.count(repo_counter::bad_signature);
      if (!x.frame.relay && !wait_.open())
        sync_.open_gap(t);
      break;
    case verdict::bad_proof:
      t.count(repo_counter::bad_proof);
      sync_.desync("a commit's proof does not hold: " + why.reason, t);
      break;
    case verdict::unverifiable:
      t.count(repo_counter::unverifiable);
      proof_.note_event(x, why.signed_rev, t, true); // CONS-21
      sync_.desync("a commit cannot be proved: " + why.reason, t);
      break;
  }
}

} // namespace weir::actors
