#include "actors/repo/repo_machine.hpp"

#include "actors/repo/limits.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/support/limits.hpp"
#include "storage/format/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

repo_machine::repo_machine(atproto::did repo, repo_settings_ptr settings,
                           uint64_t incarnation)
  : repo_(std::move(repo)), settings_(std::move(settings)),
    incarnation_(incarnation) {
  // nop
}

repo_effects
repo_machine::on_loaded(std::optional<storage::repo_row> row,
                        std::shared_ptr<const storage::chain_row> chain,
                        std::optional<storage::member_row> member,
                        now_time now) {
  repo_effects out;
  loaded_ = true;
  exists_ = row.has_value();
  chain_ = std::move(chain);
  if (!exists_)
    return out; // An addition may wait: frames are decided after it.
  row_ = std::move(*row);
  if (member)
    set_filter(*member);
  written_status_ = row_.status;
  if (chain_ != nullptr)
    tip_ = {chain_->rev, chain_->data};
  if (row_.status == repo_status::syncing) {
    // Found at start: what was fetched or buffered may be incomplete; the diff
    // of the next fetch makes it whole (SYNC 3b.7).
    row_.status = status_without_job();
    row_.resync_id = 0;
    touch_row();
    next_.buffer_clear = true;
    out.wish = fetch_wish{row_.status, 0};
  }
  if (row_.identity_due) {
    pace_.wanted = true; // After what is known, or an outage would stop it.
    if (row_.refused_by != 0 || row_.words.tombstoned)
      pace_.retry.expect(now.steady);
    else
      pace_.retry.begin();
    ask_identity(out);
  }
  if (row_.refused_by != 0)
    doubt_.regret();
  if (row_.gap && row_.status == repo_status::synced) {
    next_.buffer_clear = true;
    desync("events that were not judged are lost", now, out);
  }
  if (row_.gap && row_.identity_due) {
    doubt_.begin();
    doubt_.regret(); // What the last life decided is not known.
  }
  if (row_.gap && row_.account != account_status::active)
    doubt_inactive(now, out); // No fetch shows that it is back.
  check_filter(now, out);
  flush(out);
  return out;
}

repo_effects repo_machine::on_awake(const upstream_board& board, now_time now) {
  repo_effects out;
  if (exists_ && account_sources::has_strangers(row_.words, board)) {
    account_sources::forget_strangers(row_.words, board);
    touch_row();
    follow_words(now, out);
  }
  pump(board, now, out);
  return out;
}

repo_effects repo_machine::on_settings(repo_settings_ptr settings,
                                       now_time now) {
  repo_effects out;
  settings_ = std::move(settings);
  if (loaded_ && exists_) {
    check_filter(now, out);
    flush(out);
  }
  return out;
}

repo_effects repo_machine::on_frames(std::vector<atproto::stamped_frame> frames,
                                     const upstream_board& board,
                                     now_time now) {
  repo_effects out;
  for (auto& frame : frames)
    inbox_.push_back({std::move(frame), now.steady, false, false, 0});
  if (!loaded_)
    return out;
  pump(board, now, out);
  return out;
}

repo_effects repo_machine::on_timer(const upstream_board& board, now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  try_refresh(now, out);
  attend_gap(now, out);
  ask_host(now, out);
  if (doubted() != doubt_bytes{}) // Whoever owns this looks at each event.
    arm(now.steady + limits::doubt_check_interval, out);
  if (suspicion_ && suspicion_->due <= now.steady)
    judge_suspicion(board, now, out);
  if (suspicion_)
    arm(suspicion_->due, out);
  make_room(board, now, out);
  pump(board, now, out);
  return out;
}

/// Those who could say whether the clock is right are not heard while the
/// window of their stream is full of what waits for it. A fetch brings that.
void repo_machine::make_room(const upstream_board& board, now_time now,
                             repo_effects& out) {
  if (inbox_.empty() || !inbox_.front().ahead || !clock_hears(now))
    return;
  const auto gives_way = [&board](const waiting_frame& x) {
    return !x.buffered && board.gives_way(x.frame.at);
  };
  if (std::any_of(inbox_.begin(), inbox_.end(), gives_way))
    desync("future_rev: there was no room to wait for a right clock", now, out);
}

/// What a listing showed did not come by the stream, or the stream is not there
/// yet: then its event may still come, and a fetch would only add to the load.
void repo_machine::judge_suspicion(const upstream_board& board, now_time now,
                                   repo_effects& out) {
  const auto seen = suspicion_->seen;
  const auto from = board.find(seen.upstream);
  const auto grace = settings_->listing_grace;
  // While another document is awaited, this may be the former host.
  const auto open = !from.relay && (identity_pending_ || pace_.open());
  if (now.steady < suspicion_->last
      && (open || !from.told_all(suspicion_->since, now.steady, grace))) {
    suspicion_->due
      = now.steady
        + std::max<std::chrono::seconds>(grace, limits::listing_doubt_step);
    return;
  }
  suspicion_.reset();
  if (open || account_sources::is_former(from, row_.pds))
    return;
  hear_account(account_sources::listed_by(from, seen.account, seen.asked_at),
               board, now, out);
  if (takes_commits() && seen.rev > tip_.rev) {
    count(repo_counter::listing_mismatch, out);
    needed_rev::require(row_, seen.rev, false);
    desync("the host lists rev " + seen.rev.str() + ", we have "
             + tip_.rev.str(),
           now, out);
  }
}

/// Takes waiting frames until one has to wait, then sends what came of them.
void repo_machine::pump(const upstream_board& board, now_time now,
                        repo_effects& out) {
  refusals_ = 0;
  while (!inbox_.empty()) {
    if (refusals_ >= limits::repo_refusals_a_turn) {
      arm(now.steady, out); // Goes on, after whoever else has work.
      break;
    }
    if (!exists_) {
      if (!queued_add_) // Else they wait for it.
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
  read_buffer(out);
  finish_drain(now, out);
  flush(out);
}

void repo_machine::touch_row() {
  row_dirty_ = true;
  next_used_ = true;
}

void repo_machine::count(repo_counter x, repo_effects& out) {
  out.counted.push_back(x);
}

size_t repo_machine::waiting() const noexcept {
  return inbox_.size() + kept_.frames.size();
}

/// Commits that are kept; and a listing keeps awake who would sleep.
size_t repo_machine::held_bytes() const noexcept {
  return kept_.bytes + (suspicion_ ? limits::repo_actor_bytes : 0);
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

bool repo_machine::idle(bool crowded) const noexcept {
  const auto wishes = pace_.wanted || doubt_.open() || pace_.retry.waits()
                      || (exists_ && row_.identity_due)
                      || refetch_.gap_due() || question_.waits()
                      || !kept_.frames.empty();
  // Whose handle it is comes after the document.
  const auto asks = identity_pending_ || answered_ != asked_;
  // Whoever wakes it asks again, and somebody will: the row says that something
  // was not judged, or that a look-up of an account that is away is due, or the
  // first fetch is in the queue.
  const auto away = row_.account != storage::account_status::active;
  const auto asks_again
    = doubt_.open() || (away && row_.identity_due)
      || (wants_fetch() && row_.status == repo_status::pending);
  return loaded_ && !in_flight_ && !next_used_ && inbox_.empty() && !job_
         && !(asks && !(crowded && asks_again))
         && !prepare_pending_ && !suspicion_
         && !queued_add_ && (crowded || !wishes);
}

} // namespace weir::actors
