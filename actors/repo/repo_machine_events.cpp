#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/repo/repo_machine.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

namespace {

atproto::tid rev_of(const atproto::frame_event& x) noexcept {
  if (const auto* commit = std::get_if<atproto::commit_event>(&x))
    return commit->rev;
  const auto* sync = std::get_if<atproto::sync_event>(&x);
  return sync != nullptr ? sync->rev : atproto::tid{};
}

/// The upstream that accounts for the repo tells of it for the first time since
/// it was reset.
bool is_first_word(const position& since_reset, const storage::repo_row& row,
                   const upstream_board& board) {
  return !completeness::is_noted(row, since_reset)
         && board.accounting_for(row.pds).id == since_reset.upstream;
}

} // namespace

repo_machine::step repo_machine::take(waiting_frame& x,
                                      const upstream_board& board,
                                      now_time now, repo_effects& out) {
  if (x.frame.bytes.size() == 0) {
    take_poison(x, now, out);
    return step::taken;
  }
  auto decoded = atproto::decode_frame(x.frame.bytes.view());
  if (!decoded) {
    count(repo_counter::bad_shape, out);
    if (board.speaks_for(row_.pds, x.frame.at.upstream))
      open_gap(now, out);
    charge(x, out);
    settle(x, out);
    return step::taken;
  }
  if (std::holds_alternative<atproto::identity_event>(*decoded)) {
    take_hint(x, now, out);
    return step::taken;
  }
  if (needs_nothing(x, *decoded, board, now, out))
    return step::taken;
  return take_known(x, *decoded, board, now, out);
}

/// Its UPSTREAM stepped over it: what it said is fetched. A repo that is not
/// indexed yet is fetched anyhow.
void repo_machine::take_poison(const waiting_frame& x, now_time now,
                               repo_effects& out) {
  count(repo_counter::poison, out);
  if (takes_commits() || job_) {
    row_.identity_due = true; // It may have been an #identity.
    pace_.wanted = true;
    try_refresh(now, out);
    desync("an event that ended the process was stepped over", now, out);
  }
  settle(x, out);
}

repo_machine::step repo_machine::take_known(waiting_frame& x,
                                            const atproto::frame_event& event,
                                            const upstream_board& board,
                                            now_time now, repo_effects& out) {
  const auto* account = std::get_if<atproto::account_event>(&event);
  if (account == nullptr && job_ && !job_->draining) {
    buffer(std::move(x), now, out); // Judged after the fetch.
    return step::taken;
  }
  if (account == nullptr || !x.frame.relay)
    if (const auto done = check_host(x, board, now, out))
      return *done;
  if (const auto* commit = std::get_if<atproto::commit_event>(&event))
    return take_commit(x, *commit, board, now, out);
  if (const auto* sync = std::get_if<atproto::sync_event>(&event))
    return take_sync(x, *sync, board, now, out);
  if (account != nullptr)
    take_account(x, *account, board, now, out);
  else
    settle(x, out);
  return step::taken;
}

/// Frames that change nothing whoever sent them do not wait for an identity,
/// or each would hold its stream (architecture.md, Limits).
bool repo_machine::needs_nothing(const waiting_frame& x,
                                 const atproto::frame_event& event,
                                 const upstream_board& board, now_time now,
                                 repo_effects& out) {
  if (std::holds_alternative<atproto::account_event>(event)) {
    if (!account_replayed(x.frame.at))
      return false;
    count(repo_counter::replayed, out);
  } else if (row_.account != storage::account_status::active) {
    count(repo_counter::inactive_account, out);
    doubt_inactive(now, out);
  } else if (!job_ && !takes_commits()) {
    count(repo_counter::out_of_sync, out);
    // The downloads of a host may lag behind its own stream, so the fetch has
    // to bring this rev. The row is not written for it: while all repos are
    // fetched for the first time, such commits are many.
    const auto rev = rev_of(event);
    const auto is_host = !x.frame.relay
                         && board.speaks_for(row_.pds, x.frame.at.upstream);
    if (is_host && !atproto::in_future(rev, now.wall))
      needed_rev::require(row_, rev, false);
    hurry_fetch(now, out);
  } else {
    return false;
  }
  settle(x, out);
  return true;
}

repo_machine::step
repo_machine::take_commit(waiting_frame& x, const atproto::commit_event& event,
                          const upstream_board& board, now_time now,
                          repo_effects& out) {
  if (event.rev <= tip_.rev) {
    count(repo_counter::replayed, out);
    // Another upstream was faster; what its own says of the same rev is a proof.
    if (event.rev == tip_.rev
        && is_first_word(x.frame.since_reset(), row_, board)) {
      const auto again = atproto::verify_commit(x.frame.bytes, event, key_,
                                                now.wall);
      if (again && again->data == tip_.data)
        note_position(x, event.rev, board);
    }
    settle(x, out);
    return step::taken;
  }
  if (x.ahead && atproto::in_future(event.rev, now.wall)
      && awaits_clock(x, event.rev, now, out))
    return step::wait;
  auto verified = atproto::verify_commit(x.frame.bytes, event, key_,
                                         now.wall);
  if (!verified)
    return refused(x, verified.error(), false, board, now, out);
  note_rev(x, event.rev, out);
  if (!verified->prev_data.defined() || verified->prev_data != tip_.data) {
    count(repo_counter::chain_broken, out);
    needed_rev::require(row_, verified->rev, true);
    desync(verified->prev_data.defined() ? "prevData is not our data root"
                                         : "a commit without prevData",
           now, out);
    settle(x, out);
    return step::taken;
  }
  apply_commit(x, *verified, board, out);
  return step::taken;
}

repo_machine::step
repo_machine::take_sync(waiting_frame& x, const atproto::sync_event& event,
                        const upstream_board& board, now_time now,
                        repo_effects& out) {
  if (event.rev < tip_.rev) {
    count(repo_counter::replayed, out);
    settle(x, out);
    return step::taken;
  }
  if (x.ahead && atproto::in_future(event.rev, now.wall)
      && awaits_clock(x, event.rev, now, out))
    return step::wait;
  auto verified = atproto::verify_sync(x.frame.bytes, event, key_, now.wall);
  if (!verified)
    return refused(x, verified.error(), true, board, now, out);
  note_rev(x, event.rev, out);
  if (verified->data != tip_.data) {
    count(repo_counter::chain_broken, out);
    needed_rev::require(row_, verified->rev, true);
    desync("#sync shows another data root", now, out);
  } else if (verified->rev == tip_.rev) {
    count(repo_counter::sync_noop, out);
    note_position(x, verified->rev, board); // It is what we have: a proof.
  } else {
    count(repo_counter::sync_applied, out);
    apply_sync(x, *verified, board);
  }
  settle(x, out);
  return step::taken;
}

/// There is no such identity: nothing of what waits for it can be judged.
void repo_machine::give_up_kept(now_time now, repo_effects& out) {
  if (doubt_.keeping())
    desync("there is no document of the identity", now, out);
  doubt_.close();
}

/// What an event that did not verify means (protocol-coverage.md 2.5, 3.5).
repo_machine::step repo_machine::refused(waiting_frame& x,
                                         const atproto::refusal& why,
                                         bool is_sync,
                                         const upstream_board& board,
                                         now_time now, repo_effects& out) {
  using atproto::verdict;
  const auto is_ahead = why.why == verdict::future_rev;
  if (is_ahead && awaits_clock(x, why.ahead, now, out))
    return step::wait;
  if (why.why == verdict::bad_signature) {
    const auto how = judge_anew(x, now, out);
    if (how != judgement::stands)
      return leave_in_doubt(x, how, now, out);
    doubt_.regret();
    if (note_refusal(row_, *identity_))
      touch_row();
    doubt_document(now, out);
  }
  needed_rev::require(row_, why.signed_rev, true); // It leads to a fetch.
  ++refusals_;
  if (!doubt_.open() || is_document_new())
    charge(x, out);
  if (is_sync && !is_ahead) {
    // A real PDS sends such a #sync after every migration: never a desync.
    count(repo_counter::sync_refused, out);
    settle(x, out);
    return step::taken;
  }
  out.news.refused.push_back({x.frame.at.upstream, why});
  switch (why.why) {
    case verdict::bad_shape:
      count(repo_counter::bad_shape, out);
      if (board.speaks_for(row_.pds, x.frame.at.upstream))
        open_gap(now, out);
      break;
    case verdict::future_rev:
      // Signed all the same: our copy is not what the account has.
      count(repo_counter::future_rev, out);
      desync("future_rev: " + why.reason, now, out);
      break;
    case verdict::bad_signature:
      count(repo_counter::bad_signature, out);
      if (!x.frame.relay && !doubt_.open())
        open_gap(now, out); // ADR 12, 8
      break;
    case verdict::bad_proof:
      count(repo_counter::bad_proof, out);
      desync("a commit's proof does not hold: " + why.reason, now, out);
      break;
    case verdict::unverifiable:
      count(repo_counter::unverifiable, out);
      note_position(x, why.signed_rev, board, true); // CONS-21
      desync("a commit cannot be proved: " + why.reason, now, out);
      break;
  }
  settle(x, out);
  return step::taken;
}

/// Accounting is done for every commit; the filter decides only what is stored
/// (SYNC 3b.1).
std::vector<storage::new_operation>
repo_machine::kept_of(const std::vector<atproto::verified_op>& ops) {
  std::vector<storage::new_operation> out;
  for (const auto& op : ops) {
    if (!filter().matches(op.collection))
      continue;
    next_bytes_ += op.record.size();
    out.push_back({op.collection, op.action, op.rkey, op.id, op.record,
                   op.undecodable});
  }
  return out;
}

void repo_machine::apply_commit(const waiting_frame& x,
                                const atproto::verified_commit& commit,
                                const upstream_board& board,
                                repo_effects& out) {
  storage::transaction tx;
  tx.rev = commit.rev;
  tx.from = x.buffered ? storage::provenance::buffer
                       : storage::provenance::live;
  tx.time_us = commit.rev.time().micros;
  tx.ops = kept_of(commit.ops);
  count(tx.ops.empty() && !commit.ops.empty() ? repo_counter::commit_filtered
                                              : repo_counter::commit_applied,
        out);
  for (auto i = undecodable_in(tx.ops); i > 0; --i)
    count(repo_counter::record_undecodable, out);
  next_bytes_ += commit.commit_block.size();
  tx.ops.push_back({std::string{storage::commit_scope},
                    atproto::op_action::create, {}, commit.commit,
                    commit.commit_block, false});
  next_.transactions.push_back(std::move(tx));
  next_.chain = storage::chain_step{commit.rev, commit.data, commit.commit,
                                    true};
  next_used_ = true;
  move_tip(x, {commit.rev, commit.data});
  note_position(x, commit.rev, board);
  settle(x, out);
}

void repo_machine::apply_sync(const waiting_frame& x,
                              const atproto::verified_sync& sync,
                              const upstream_board& board) {
  storage::transaction tx;
  tx.rev = sync.rev;
  tx.time_us = sync.rev.time().micros;
  tx.ops.push_back({std::string{storage::commit_scope},
                    atproto::op_action::update, {}, sync.commit,
                    sync.commit_block, false});
  next_.transactions.push_back(std::move(tx));
  next_.chain = storage::chain_step{sync.rev, sync.data, sync.commit, true};
  next_used_ = true;
  move_tip(x, {sync.rev, sync.data});
  note_position(x, sync.rev, board);
}

/// What follows on what is held need not wait for frames that are kept for a
/// document: it is signed by the known key. But if another key comes, one of
/// those may be the true one.
void repo_machine::move_tip(const waiting_frame& x, tip_state to) {
  tip_ = to;
  if (refetch_.gap_due()) {
    refetch_.close_gap(); // What was dropped was nothing.
    end_gap();
  }
  if (doubt_.keeping() && !x.buffered)
    doubt_.regret();
}

/// CONS-19, CONS-20; completeness.md, The terms: one upstream accounts for a
/// repo. The events of others are applied and prove nothing.
void repo_machine::note_position(const waiting_frame& x, atproto::tid rev,
                                 const upstream_board& board,
                                 bool always) {
  if (completeness::on_carried(row_, x.frame.at.upstream))
    touch_row();
  const auto since_reset = x.frame.since_reset();
  if ((!always && completeness::is_noted(row_, since_reset))
      || board.accounting_for(row_.pds).id != since_reset.upstream)
    return;
  if (completeness::on_event(row_, since_reset, rev, always))
    touch_row();
}

} // namespace weir::actors
