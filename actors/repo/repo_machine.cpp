#include "actors/repo/repo_machine.hpp"

#include "base/limits.hpp"

#include <utility>

namespace weir::actors {

const char* to_string(repo_counter x) noexcept {
  switch (x) {
    case repo_counter::commit_applied:
      return "applied";
    case repo_counter::commit_filtered:
      return "filtered";
    case repo_counter::replayed:
      return "replayed";
    case repo_counter::bad_shape:
      return "bad_shape";
    case repo_counter::future_rev:
      return "future_rev";
    case repo_counter::bad_signature:
      return "bad_signature";
    case repo_counter::bad_proof:
      return "bad_proof";
    case repo_counter::unverifiable:
      return "unverifiable";
    case repo_counter::wrong_host:
      return "wrong_host";
    case repo_counter::inactive_account:
      return "inactive_account";
    case repo_counter::out_of_sync:
      return "out_of_sync";
    case repo_counter::buffered:
      return "buffered";
    case repo_counter::buffer_overflow:
      return "buffer_overflow";
    case repo_counter::chain_broken:
      return "chain_broken";
    case repo_counter::sync_applied:
      return "sync_applied";
    case repo_counter::sync_noop:
      return "sync_noop";
    case repo_counter::sync_refused:
      return "sync_refused";
    case repo_counter::identity_changed:
      return "identity_changed";
    case repo_counter::account_changed:
      return "account_changed";
    case repo_counter::identity_unresolved:
      return "identity_unresolved";
    case repo_counter::listing_mismatch:
      return "listing_mismatch";
  }
  return "unknown";
}

repo_machine::repo_machine(atproto::did repo, repo_settings_ptr settings,
                           uint64_t incarnation)
  : repo_(std::move(repo)), settings_(std::move(settings)),
    incarnation_(incarnation) {
  // nop
}

repo_effects
repo_machine::on_loaded(std::optional<storage::repo_row> row,
                        std::shared_ptr<const storage::chain_row> chain,
                        now_time now) {
  repo_effects out;
  loaded_ = true;
  exists_ = row.has_value();
  chain_ = std::move(chain);
  if (!exists_) {
    forget_waiting(out);
    return out;
  }
  row_ = std::move(*row);
  written_status_ = row_.status;
  if (chain_ != nullptr)
    tip_ = {chain_->rev, chain_->data};
  if (row_.status == storage::repo_status::syncing) {
    // Found at start: what was fetched or buffered may be incomplete; the diff
    // of the next fetch makes it whole (SYNC 3b.7).
    row_.status = status_without_job();
    row_.resync_id = 0;
    touch_row();
    next_.buffer_clear = true;
    out.wish = fetch_wish{row_.status, 0};
  }
  if (!inbox_.empty()) {
    ask_identity(out);
    arm(inbox_.front().since + limits::repo_wait_max, out);
  }
  flush(out);
  static_cast<void>(now);
  return out;
}

repo_effects repo_machine::on_settings(repo_settings_ptr settings,
                                       now_time now) {
  repo_effects out;
  settings_ = std::move(settings);
  static_cast<void>(now);
  return out;
}

repo_effects
repo_machine::on_frames(std::vector<atproto::stamped_frame> frames,
                        const upstream_board& board, now_time now) {
  repo_effects out;
  for (auto& frame : frames)
    inbox_.push_back({std::move(frame), now.steady, false, false, {}});
  if (!loaded_)
    return out;
  pump(board, now, out);
  return out;
}

repo_effects repo_machine::on_timer(const upstream_board& board,
                                    now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  try_refresh(now, out);
  if (suspicion_ && suspicion_->due <= now.steady) {
    const auto seen = suspicion_->seen;
    suspicion_.reset();
    if (seen.account != row_.account)
      set_account(seen.account, now, out);
    if (takes_commits() && seen.rev > tip_.rev) {
      count(repo_counter::listing_mismatch, out);
      desync("the host lists rev " + seen.rev.str() + ", we have "
               + tip_.rev.str(),
             out);
    }
  }
  if (suspicion_)
    arm(suspicion_->due, out);
  // A commit that waits too long for an identity must not hold its upstream.
  if (!identity_ && !inbox_.empty()
      && now.steady - inbox_.front().since >= limits::repo_wait_max) {
    count(repo_counter::identity_unresolved, out);
    if (takes_commits())
      desync("the identity could not be resolved in time", out);
    forget_waiting(out);
    identity_pending_ = false; // Asked again for the next.
  }
  pump(board, now, out);
  return out;
}

/// Takes waiting frames until one has to wait, then sends what came of them.
void repo_machine::pump(const upstream_board& board, now_time now,
                        repo_effects& out) {
  while (!inbox_.empty()) {
    if (!exists_) {
      forget_waiting(out);
      break;
    }
    if (next_.transactions.size() >= limits::repo_coalesced_commits_max)
      break;
    if (drains_disk() && !inbox_.front().buffered)
      break; // Older ones are still on disk.
    if (take(inbox_.front(), board, now, out) == step::wait)
      break;
    inbox_.pop_front();
  }
  if (!inbox_.empty() && !identity_)
    arm(inbox_.front().since + limits::repo_wait_max, out);
  read_buffer(out);
  finish_drain(out);
  flush(out);
}

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

void repo_machine::send_chunk(repo_effects& out) {
  if (!job_ || !job_->durable || job_->chunks.empty())
    return;
  auto chunk = std::move(job_->chunks.front());
  job_->chunks.pop_front();
  repo_effects::outgoing made;
  made.backfill = true;
  made.update.repo = repo_;
  made.update.actor_incarnation = incarnation_;
  made.update.commit_revision = chain_ == nullptr ? 0
                                                  : chain_->commit_revision();
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
  in_flight_ = true;
  chunk_in_flight_ = true;
}

/// Takes note of what became of the update. Returns false when this repo has to
/// stop; frames that follow the update come again then.
bool repo_machine::accept(const storage::update_receipt& receipt,
                          bool was_chunk, repo_effects& out) {
  switch (receipt.outcome) {
    case storage::update_outcome::fenced:
      out.stop = fail(ec::none, "fenced");
      return false;
    case storage::update_outcome::mismatch:
      out.stop = fail(ec::chain_broken,
                      "the stored revision is not the one we own");
      return false;
    case storage::update_outcome::refused:
      out.stop = fail(ec::invalid_argument, receipt.reason);
      return false;
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

repo_effects
repo_machine::on_receipt(const storage::update_receipt& receipt,
                         const upstream_board& board, now_time now) {
  repo_effects out;
  const auto was_chunk = std::exchange(chunk_in_flight_, false);
  in_flight_ = false;
  auto held = std::exchange(held_marks_, {});
  if (!accept(receipt, was_chunk, out))
    return out;
  out.done = std::move(held); // Not before: what they follow is durable.
  if (removing_ && next_used_) {
    flush(out); // What was in flight came before the removal.
    return out;
  }
  if (removing_) {
    out.stop = fail(ec::none, "removed");
    return out;
  }
  if (was_chunk)
    out.chunks_done = 1;
  if (job_ && !job_->durable && row_.status == storage::repo_status::syncing
      && !row_dirty_) {
    job_->durable = true;
    job_->filter_generation = settings_->filter_generation;
    out.order = fetch_order{job_->id, identity_ ? identity_->pds : row_.pds,
                            key_, chain_, row_.erased_through,
                            settings_->filter};
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

void repo_machine::touch_row() {
  row_dirty_ = true;
  next_used_ = true;
}

void repo_machine::count(repo_counter x, repo_effects& out) {
  out.counted.push_back(x);
}

void repo_machine::ask_identity(repo_effects& out) {
  if (identity_ || identity_pending_)
    return;
  identity_pending_ = true;
  out.load_identity = true;
}

bool repo_machine::may_refresh(now_time now) const {
  return refreshes_.size() < limits::refresh_burst_max
         || now.steady - refreshes_.front() >= settings_->refresh_min;
}

void repo_machine::refresh_identity(now_time now, repo_effects& out) {
  refresh_wanted_ = false;
  identity_pending_ = true;
  refreshes_.push_back(now.steady);
  if (refreshes_.size() > limits::refresh_burst_max)
    refreshes_.pop_front();
  out.refresh_identity = true;
}

/// What an #identity asked for: now, after the answer that is awaited, or as
/// soon as the bound allows.
void repo_machine::try_refresh(now_time now, repo_effects& out) {
  if (!refresh_wanted_ || identity_pending_)
    return;
  if (may_refresh(now))
    refresh_identity(now, out);
  else
    arm(refreshes_.front() + settings_->refresh_min, out);
}

void repo_machine::arm(steady_time at, repo_effects& out) {
  if (!out.timer || at < *out.timer)
    out.timer = at;
}

/// Gives all waiting frames back as finished.
void repo_machine::forget_waiting(repo_effects& out) {
  for (const auto& x : inbox_)
    settle(x, out);
  inbox_.clear();
}

bool repo_machine::idle() const noexcept {
  return loaded_ && !in_flight_ && !next_used_ && inbox_.empty() && !job_
         && !identity_pending_ && !prepare_pending_ && !suspicion_
         && !refresh_wanted_ && buffer_.empty();
}

} // namespace weir::actors
