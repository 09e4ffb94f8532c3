#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_machine.hpp"

#include <algorithm>
#include <utility>

/// A repo's updates: one in flight, what became of it, and what frames are
/// finished with it.
namespace weir::actors {

namespace {

/// Commits, as against facts that stand for themselves.
bool is_commit(const storage::transaction& x) {
  return x.rev.defined();
}

} // namespace

void repo_machine::flush(repo_effects& out) {
  if (in_flight_ || out.update)
    return;
  if (!next_used_) {
    send_chunk(out);
    return;
  }
  next_.repo = repo_;
  next_.actor_incarnation = incarnation_;
  next_.commit_revision = chain_ == nullptr ? 0 : chain_->commit_revision();
  next_.base = chain_;
  remember_sent();
  if (row_dirty_) {
    next_.row = row_;
    next_.old_status = written_status_;
    written_status_ = row_.status;
    row_dirty_ = false;
  }
  out.update = repo_effects::outgoing{std::exchange(next_, {}),
                                      std::exchange(next_marks_, {}),
                                      std::exchange(next_bytes_, 0), false};
  next_used_ = false;
  in_flight_ = true;
}

void repo_machine::remember_sent() {
  sent_.marks.assign(next_marks_.begin(), next_marks_.end());
  sent_.written_status = written_status_;
  sent_.member = next_.member;
  sent_.erase = next_.erase;
  sent_.buffer_clear = next_.buffer_clear;
  sent_.commits = sent_.account_fact = sent_.identity_fact = false;
  for (const auto& tx : next_.transactions) {
    sent_.commits |= is_commit(tx);
    sent_.account_fact |= tx.ops.front().scope == storage::account_scope;
    sent_.identity_fact |= tx.ops.front().scope == storage::identity_scope;
  }
}

void repo_machine::send_chunk(repo_effects& out) {
  if (!job_ || !job_->durable || job_->chunks.empty())
    return;
  auto chunk = std::move(job_->chunks.front());
  job_->chunks.pop_front();
  repo_effects::outgoing made;
  made.backfill = true;
  made.update.repo = repo_;
  made.update.actor_incarnation = incarnation_;
  made.update.commit_revision
    = chain_ == nullptr ? 0 : chain_->commit_revision();
  made.update.resync_id = chunk.job;
  made.update.base = chain_;
  storage::transaction tx;
  tx.rev = chunk.rev;
  tx.from = storage::provenance::resync;
  tx.live = false;
  tx.job = chunk.job;
  tx.time_us = chunk.rev.time().micros;
  for (const auto& op : chunk.ops)
    made.content_bytes += op.content.size();
  tx.ops = std::move(chunk.ops);
  made.update.transactions.push_back(std::move(tx));
  out.update = std::move(made);
  sent_ = {};
  sent_.written_status = written_status_;
  in_flight_ = true;
  chunk_in_flight_ = true;
}

/// Takes note of what became of the update. Returns false when this repo has to
/// stop; frames that follow the update come again then.
bool repo_machine::accept(const storage::update_receipt& receipt,
                          bool was_chunk, now_time now, repo_effects& out) {
  switch (receipt.outcome) {
    case storage::update_outcome::fenced:
      out.stop = fail(ec::none, "fenced");
      return false;
    case storage::update_outcome::mismatch:
      count(repo_counter::update_bounced, out);
      out.stop
        = fail(ec::chain_broken, "the stored revision is not the one we own");
      return false;
    case storage::update_outcome::refused:
      if (!was_chunk || job_)
        take_refusal(receipt.reason, now, out);
      break;
    case storage::update_outcome::stale:
      if (was_chunk && job_) {
        row_.status = status_without_job();
        end_job(out, fail(ec::cancelled, "the job was superseded"));
        out.wish = fetch_wish{row_.status, 0};
      }
      break;
    case storage::update_outcome::done:
      chain_ = receipt.chain;
      if (receipt.erased_through != 0)
        row_.erased_through = receipt.erased_through;
      break;
  }
  return true;
}

/// The update breaks a limit and always will: a failure of this repo, which
/// goes back to what is durable (SYNC-13). Its frames are finished when the row
/// says so; the fetch that follows contains them.
void repo_machine::take_refusal(const std::string& reason, now_time now,
                                repo_effects& out) {
  count(repo_counter::update_refused, out);
  std::move(held_marks_.begin(), held_marks_.end(),
            std::back_inserter(next_marks_));
  std::move(sent_.marks.begin(), sent_.marks.end(),
            std::back_inserter(next_marks_));
  held_marks_.clear();
  written_status_ = sent_.written_status;
  if (removing_) {
    next_.old_status = written_status_;
    return;
  }
  drop_commits();
  next_.erase |= sent_.erase;
  next_.buffer_clear |= sent_.buffer_clear;
  if (!next_.member)
    next_.member = std::move(sent_.member);
  if (sent_.commits && sent_.identity_fact)
    append_fact(storage::identity_scope, now);
  if (sent_.commits && sent_.account_fact)
    append_fact(storage::account_scope, now);
  tip_ = {};
  if (chain_ != nullptr && !next_.erase)
    tip_ = {chain_->rev, chain_->data};
  // What it claimed of completeness was never so.
  row_.first_rev = {};
  row_.fcsr = {};
  row_.last_indexed_rev = std::min(row_.last_indexed_rev, tip_.rev);
  touch_row();
  if (row_.account == storage::account_status::active)
    fail_job(now, out, {fail(ec::invalid_argument, reason), std::nullopt});
}

/// Commits that no update carries yet are not applied after all.
void repo_machine::drop_commits() {
  std::erase_if(next_.transactions, is_commit);
  next_.chain.reset();
}

repo_effects repo_machine::on_receipt(const storage::update_receipt& receipt,
                                      const upstream_board& board,
                                      now_time now) {
  repo_effects out;
  const auto was_chunk = std::exchange(chunk_in_flight_, false);
  in_flight_ = false;
  if (!accept(receipt, was_chunk, now, out)) {
    held_marks_.clear();
    return out;
  }
  // Not before: what they follow is durable.
  out.done = std::exchange(held_marks_, {});
  if (removing_ && next_used_) {
    flush(out); // What was in flight came before the removal.
    return out;
  }
  if (removing_) {
    finish_removal(board, now, out);
    return out;
  }
  if (was_chunk)
    out.chunks_done = 1;
  if (job_ && !job_->durable && row_.status == storage::repo_status::syncing
      && !row_dirty_) {
    job_->durable = true;
    job_->filter_generation = settings_->filter_generation;
    out.order = fetch_order{job_->id,
                            identity_ ? identity_->pds : row_.pds,
                            key_,
                            chain_,
                            needed_rev::least(row_),
                            row_.erased_through,
                            filter()};
  }
  if (job_ && job_->root && !job_->draining && job_->chunks.empty())
    finish_fetch(now);
  pump(board, now, out);
  return out;
}

/// A frame is finished when everything decided before it is durable.
void repo_machine::settle(const waiting_frame& x, repo_effects& out) {
  if (x.buffered)
    return;
  if (next_used_)
    next_marks_.push_back(x.frame.at);
  else if (in_flight_)
    held_marks_.push_back(x.frame.at);
  else
    out.done.push_back(x.frame.at);
}

} // namespace weir::actors
