#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/limits.hpp"
#include "actors/repo/needed_rev.hpp"
#include "actors/repo/repo_clock.hpp"
#include "actors/repo/repo_machine.hpp"

#include <algorithm>
#include <utility>

/// A repo's fetch: permit, chunks, root, drain, failure, and the buffer of
/// commits that come meanwhile.
namespace weir::actors {

using storage::account_status;
using storage::repo_status;

// -- backfill -----------------------------------------------------------------

repo_effects repo_machine::on_prepare(now_time now) {
  repo_effects out;
  static_cast<void>(now);
  if (!loaded_ || !exists_ || job_ || row_.status == repo_status::synced
      || row_.account != account_status::active) {
    out.ready = fetch_ready{};
    return out;
  }
  // Whoever made a look-up necessary that is awaited: now the repo needs it.
  out.share_identity = pace_.set_cause(0) && identity_pending_;
  prepare_pending_ = true;
  if (identity_)
    continue_fetch(now, out);
  else
    ask_identity(out);
  flush(out);
  return out;
}

/// A fetch that is asked for, or was put off. That a document may have changed
/// is no reason to wait. That something speaks against it is, and then the
/// place among those that are prepared is for others.
void repo_machine::continue_fetch(now_time now, repo_effects& out) {
  const auto doubted = doubt_.open() && identity_pending_;
  if (std::exchange(prepare_pending_, false)) {
    if (doubted && doubt_.put_off()) {
      out.ready = fetch_ready{};
      return;
    }
    out.ready = fetch_ready{identity_->pds};
    if (identity_->pds.empty()) {
      out.ready->failed = fail(ec::not_found, "the DID document names no PDS");
      fail_job(now, out, {*out.ready->failed, std::nullopt});
    }
  } else if (!doubted && doubt_.resume() && wants_fetch()) {
    out.wish = fetch_wish{row_.status, row_.next_retry};
  }
}

/// Nobody wakes a repo for a fetch that was put off but the queue. The next life
/// may put it off again, so not at once.
repo_effects repo_machine::on_sleep(now_time now) {
  repo_effects out;
  constexpr std::chrono::seconds pause = limits::gap_pause_min;
  const auto soon = now.wall.seconds() + pause.count();
  if (doubt_.resume() && wants_fetch())
    out.wish = fetch_wish{row_.status, std::max(row_.next_retry, soon)};
  return out;
}

repo_effects repo_machine::on_begin(uint64_t job, const position& noted,
                                    now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_ || job_ || !identity_
      || row_.status == repo_status::synced
      || row_.account != account_status::active) {
    out.job_end = repo_effects::ended_job{
      job, fail(ec::cancelled, "no fetch is wanted")};
    if (loaded_ && exists_ && !job_ && !identity_
        && row_.status != repo_status::synced)
      out.wish = fetch_wish{row_.status, 0}; // Woken since it was prepared.
    return out;
  }
  host_word_.reset();
  doubt_.begin_fetch();
  if (identity_pending_ || pace_.open())
    doubt_.regret(); // Another key or host may become known after it.
  refetch_.close_gap();
  kept_.judging = false;
  job_.emplace();
  job_->id = job;
  job_->noted = noted;
  if (!key_.defined()) {
    fail_job(now, out,
             {fail(ec::unverifiable, "no usable signing key"), std::nullopt});
    flush(out);
    return out;
  }
  if (identity_->pds.empty()) {
    fail_job(now, out,
             {fail(ec::not_found, "the DID document names no PDS"),
              std::nullopt});
    flush(out);
    return out;
  }
  row_.status = repo_status::syncing;
  row_.resync_id = job;
  touch_row();
  flush(out);
  return out;
}

repo_effects repo_machine::on_chunk(fetch_chunk chunk, now_time now) {
  repo_effects out;
  static_cast<void>(now);
  if (!job_ || job_->id != chunk.job)
    return out;
  for (auto i = undecodable_in(chunk.ops); i > 0; --i)
    count(repo_counter::record_undecodable, out);
  job_->chunks.push_back(std::move(chunk));
  flush(out);
  return out;
}

repo_effects repo_machine::on_fetched(uint64_t job,
                                      const atproto::verified_root& root,
                                      const upstream_board& board,
                                      now_time now) {
  repo_effects out;
  if (!job_ || job_->id != job)
    return out;
  job_->root = root;
  if (!in_flight_ && job_->chunks.empty())
    finish_fetch(now);
  pump(board, now, out);
  return out;
}

/// All chunks are durable: write the root and let the buffered commits follow.
void repo_machine::finish_fetch(now_time now) {
  const auto& root = *job_->root;
  if (root.rev != tip_.rev || root.data != tip_.data) {
    storage::transaction tx;
    tx.rev = root.rev;
    tx.from = storage::provenance::resync;
    tx.live = false;
    tx.job = job_->id;
    tx.time_us = root.rev.time().micros;
    tx.ops.push_back({std::string{storage::commit_scope},
                      atproto::op_action::create, {}, root.commit,
                      root.commit_block, false});
    next_.transactions.push_back(std::move(tx));
    next_.chain = storage::chain_step{root.rev, root.data, root.commit};
    tip_ = {root.rev, root.data};
  }
  completeness::on_indexed(row_, job_->noted, root.rev,
                           job_->filter_generation);
  // Something speaks against its document: what that refused stays refused.
  if (!doubt_.open() && !pace_.retry.doubts() && !identity_pending_
      && !pace_.open()) {
    doubt_.settle();
    row_.refused_by = 0;
  }
  // By a document that may be an old one, or it opened since the fetch began.
  if (doubt_.open() || refetch_.gap_due())
    row_.gap = true;
  account_sources::answer(row_.words, account_status::active);
  row_.last_sync = now.wall.seconds();
  refetch_.fetched(now.steady);
  if (row_.listed_rev > root.rev)
    refetch_.disprove(row_.listed_rev, now.steady);
  needed_rev::settle(row_);
  row_.not_found_at = 0;
  row_.error.clear();
  row_.retry_count = 0;
  row_.next_retry = 0;
  touch_row();
  job_->draining = true;
  if (!drains_disk())
    take_memory_buffer(); // Else it is younger than what lies on disk.
}

void repo_machine::take_memory_buffer() {
  std::move(kept_.frames.rbegin(), kept_.frames.rend(),
            std::front_inserter(inbox_));
  kept_.frames.clear();
  kept_.bytes = 0;
}

/// What is kept follows: the fetch is done, or the document is there.
bool repo_machine::drains() const noexcept {
  return kept_.judging || (job_ && job_->draining);
}

bool repo_machine::drains_disk() const noexcept {
  return drains() && kept_.disk_bytes > 0;
}

/// One page at a time, and only when all that was put there is durable.
void repo_machine::read_buffer(repo_effects& out) {
  if (!drains_disk() || kept_.read_pending || in_flight_
      || !next_.buffer_put.empty())
    return;
  if (!inbox_.empty() && inbox_.front().buffered)
    return;
  kept_.read_pending = true;
  out.read_buffer = kept_.after;
}

repo_effects repo_machine::on_buffer_page(buffer_page page,
                                          const upstream_board& board,
                                          now_time now) {
  repo_effects out;
  kept_.read_pending = false;
  if (std::exchange(kept_.read_stale, false) || !drains_disk()) {
    pump(board, now, out);
    return out;
  }
  if (page.failed.code != ec::none) {
    // What cannot be read is missing: the repo must not become `synced`.
    desync("the sync buffer cannot be read: " + page.failed.context, now, out);
    pump(board, now, out);
    return out;
  }
  if (!page.frames.empty())
    kept_.after = page.frames.back().number;
  if (page.end || page.frames.empty()) {
    kept_.disk_bytes = 0;
    next_.buffer_clear = true;
    next_used_ = true;
    take_memory_buffer();
  }
  for (auto i = page.frames.rbegin(); i != page.frames.rend(); ++i)
    inbox_.push_front({std::move(i->frame), now.steady, true, false,
                       i->number});
  pump(board, now, out);
  return out;
}

/// The last buffered commit was taken: the repo is synced.
void repo_machine::finish_drain(now_time now, repo_effects& out) {
  if (!drains() || drains_disk())
    return;
  if (!inbox_.empty() && inbox_.front().buffered)
    return;
  if (std::exchange(kept_.judging, false)) {
    end_gap();
    if (!inbox_.empty())
      arm(now.steady, out); // What had to wait for this.
    return;
  }
  row_.status = repo_status::synced;
  touch_row();
  end_job(out, {});
  check_filter(now, out); // It may have changed meanwhile.
}

repo_effects repo_machine::on_fetch_failed(uint64_t job,
                                           const fetch_failure& why,
                                           now_time now) {
  repo_effects out;
  if (!job_ || job_->id != job)
    return out;
  if (why.ahead.defined())
    out.news.heard.push_back({0, false, why.ahead, false});
  fail_job(now, out, why);
  flush(out);
  return out;
}

namespace {

/// The #identity of a new key or host may have been lost: the next try is to
/// know it. A host that cannot be reached is the commonest sign of a migration.
bool may_be_outdated(const fetch_failure& why) {
  switch (why.reason.code) {
    case ec::verification_failed:
    case ec::unverifiable:
    case ec::not_found:
    case ec::unreachable:
      return !why.ahead.defined();
    default:
      return false;
  }
}

/// How long a fetch waits that failed for a reason of ours, not the repo's.
std::optional<std::chrono::seconds> wait_for_us(const fetch_failure& why,
                                                std::chrono::seconds retry_min,
                                                now_time now) {
  if (why.reason.code == ec::disk_full)
    return retry_min;
  if (why.ahead.defined() && clock_doubted(now))
    return std::min<std::chrono::seconds>(limits::clock_refetch_wait,
                                          retry_min);
  return std::nullopt;
}

} // namespace

/// Sets status and back-off of a fetch that did not succeed (SYNC-06, 13, 15).
void repo_machine::fail_job(now_time now, repo_effects& out,
                            const fetch_failure& why) {
  end_job(out, why.reason);
  touch_row();
  if (identity_ && may_be_outdated(why) && !identity_pending_
      && pace_.may(now.steady, settings_->refresh_min)) {
    pace_.set_cause(0);
    refresh_identity(now, out);
  }
  if (why.account && *why.account != account_status::active
      && hear_refusal(*why.account, now, out))
    return;
  if (why.reason.code == ec::rate_limited) {
    row_.status = status_without_job(); // Not a failure (SYNC 3b.9).
    out.wish = fetch_wish{row_.status, 0};
    return;
  }
  if (const auto wait = wait_for_us(why, settings_->retry_min, now)) {
    row_.status = status_without_job(); // Ours, not the repo's.
    out.wish = fetch_wish{row_.status, now.wall.seconds() + wait->count()};
    return;
  }
  row_.status = repo_status::error;
  row_.error = to_string(why.reason);
  auto delay = settings_->retry_min;
  for (uint32_t i = 0; i < row_.retry_count && delay < settings_->retry_max;
       ++i)
    delay *= 2;
  ++row_.retry_count;
  row_.next_retry = now.wall.seconds()
                    + std::min(delay, settings_->retry_max).count();
  out.wish = fetch_wish{row_.status, row_.next_retry};
}

void repo_machine::end_job(repo_effects& out, result<void> outcome) {
  row_.resync_id = 0;
  touch_row();
  if (job_)
    out.job_end = repo_effects::ended_job{job_->id, std::move(outcome)};
  job_.reset();
  drop_buffer();
}

// -- the sync buffer ----------------------------------------------------------

/// Keeps a commit until the fetch is done, or the document is there. Its mark
/// goes back as soon as the row says `syncing` or `gap` on disk: after a crash
/// the repo is fetched again, and the fetch contains the commit.
void repo_machine::buffer(waiting_frame x, now_time now, repo_effects& out) {
  count(repo_counter::buffered, out);
  settle(x, out);
  x.buffered = true;
  x.number = ++kept_.last;
  kept_.bytes += x.frame.bytes.size();
  kept_.frames.push_back(std::move(x));
  if (kept_.frames.size() <= limits::repo_waiting_commits_max
      && kept_.bytes <= limits::repo_waiting_bytes_max)
    return;
  kept_.disk_bytes += kept_.bytes;
  if (kept_.disk_bytes > limits::repo_disk_buffer_bytes_max) {
    count(repo_counter::buffer_overflow, out);
    desync("more commits came than can be kept", now, out);
    row_.gap = true;
    return;
  }
  for (auto& kept : kept_.frames)
    next_.buffer_put.push_back({kept.number, std::move(kept.frame)});
  next_used_ = true;
  kept_.frames.clear();
  kept_.bytes = 0;
}

void repo_machine::drop_buffer() {
  doubt_.drop_frames();
  kept_.judging = false;
  kept_.frames.clear();
  kept_.bytes = 0;
  kept_.read_stale = kept_.read_pending;
  kept_.after = 0;
  if (kept_.disk_bytes > 0) {
    kept_.disk_bytes = 0;
    next_.buffer_put.clear(); // They would go behind the clear.
    next_.buffer_clear = true;
    next_used_ = true;
  }
}

} // namespace weir::actors
