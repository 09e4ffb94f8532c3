#include "actors/repo/completeness_machine.hpp"
#include "actors/repo/repo_machine.hpp"

#include "atproto/record_json.hpp"
#include "base/limits.hpp"

#include <algorithm>
#include <utility>

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

bool repo_machine::takes_commits() const noexcept {
  return row_.status == repo_status::synced || (job_ && job_->draining);
}

repo_status repo_machine::status_without_job() const noexcept {
  return row_.last_indexed_rev.defined() ? repo_status::desync
                                         : repo_status::pending;
}

void repo_machine::desync(std::string reason, repo_effects& out) {
  if (job_)
    end_job(out, fail(ec::chain_broken, reason));
  row_.status = repo_status::desync;
  row_.error = std::move(reason);
  row_.next_retry = 0;
  touch_row();
  if (row_.account == account_status::active)
    out.wish = fetch_wish{row_.status, 0};
}

/// One `$identity` or `$account` operation: the facts as they are now.
void repo_machine::append_fact(std::string_view scope, now_time now) {
  std::string json = R"({"handle":)";
  atproto::append_json_string(
    row_.handle.empty() ? std::string_view{"handle.invalid"} : row_.handle,
    json);
  json += row_.account == account_status::active ? R"(,"is_active":true)"
                                                 : R"(,"is_active":false)";
  json += R"(,"status":")";
  json += storage::to_string(row_.account);
  json += "\"}";
  storage::transaction tx;
  tx.time_us = now.wall.micros;
  tx.ops.push_back({std::string{scope}, atproto::op_action::update, {}, {},
                    shared_bytes::copy_of(as_bytes(json)), false});
  next_bytes_ += json.size();
  next_.transactions.push_back(std::move(tx));
  next_used_ = true;
}

void repo_machine::set_account(account_status status, now_time now,
                               repo_effects& out) {
  if (status == row_.account)
    return;
  count(repo_counter::account_changed, out);
  suspicion_.reset(); // Seen before this.
  const auto before = std::exchange(row_.account, status);
  touch_row();
  if (status == account_status::active) {
    append_fact(storage::account_scope, now);
    if (before == account_status::deleted
        || row_.status != repo_status::synced) {
      row_.status = status_without_job();
      row_.next_retry = 0;
      out.wish = fetch_wish{row_.status, 0};
    }
    return;
  }
  if (job_) {
    end_job(out, fail(ec::account_inactive, storage::to_string(status)));
    row_.status = status_without_job();
  }
  if (status == account_status::deleted) {
    // Purge (protocol.md 4; architecture.md 3, Erasing). Commits that wait in
    // this very update would outlive the mark, so they go at once.
    std::erase_if(next_.transactions,
                  [](const auto& tx) { return tx.rev.defined(); });
    next_.chain.reset();
    next_.erase = true;
    ++row_.incarnation;
    row_.status = repo_status::pending;
    row_.last_indexed_rev = {};
    row_.first_rev = {};
    row_.fcsr = {};
    tip_ = {};
  }
  append_fact(storage::account_scope, now);
}

repo_effects
repo_machine::on_identity(const result<storage::identity_row>& fact,
                          const upstream_board& board, now_time now) {
  repo_effects out;
  identity_pending_ = false;
  if (!loaded_ || !exists_)
    return out;
  if (!fact) {
    try_refresh(now, out);
    if (std::exchange(prepare_pending_, false)) {
      out.ready = fetch_ready{};
      fail_job(now, out, {fact.error(), std::nullopt});
    }
    if (identity_)
      pump(board, now, out); // Decide with what is known.
    else
      flush(out);
    return out;
  }
  const auto key_changed = !identity_
                           || identity_->signing_key != fact->signing_key;
  identity_ = *fact;
  if (key_changed) {
    auto key = atproto::public_key::from_multikey(fact->signing_key);
    key_ = key ? std::move(*key) : atproto::public_key{};
  }
  if (row_.pds != fact->pds) {
    row_.pds = fact->pds;
    touch_row();
  }
  if (row_.handle != fact->handle) {
    row_.handle = fact->handle;
    count(repo_counter::identity_changed, out);
    append_fact(storage::identity_scope, now);
    touch_row();
  }
  if (fact->tombstoned)
    set_account(account_status::deleted, now, out);
  if (prepare_pending_)
    answer_prepare(now, out);
  try_refresh(now, out);
  pump(board, now, out);
  return out;
}

repo_effects repo_machine::on_listed(const listed_repo& x,
                                     const upstream_board& board,
                                     now_time now) {
  repo_effects out;
  if (!loaded_ || !exists_)
    return out;
  const auto from = board.find(x.upstream);
  if (!from.relay && !row_.pds.empty() && from.origin != row_.pds)
    return out; // Its former host.
  if (takes_commits()
      && completeness::on_listed(row_, x.noted, x.rev, tip_.rev))
    touch_row();
  if ((takes_commits() && x.rev > tip_.rev) || x.account != row_.account) {
    // The event may be on its way: look again after a while.
    if (!suspicion_)
      suspicion_ = suspicion{x, now.steady + settings_->listing_grace};
    arm(suspicion_->due, out);
  }
  flush(out);
  return out;
}

// -- commands ------------------------------------------------------------------

repo_effects repo_machine::on_add(std::vector<std::string> collections,
                                  bool& added, now_time now) {
  repo_effects out;
  static_cast<void>(now);
  added = loaded_ && !exists_ && !removing_;
  if (!added)
    return out;
  exists_ = true;
  row_ = {};
  written_status_.reset();
  touch_row();
  next_.member = storage::member_row{settings_->filter_generation,
                                     std::move(collections)};
  out.wish = fetch_wish{repo_status::pending, 0};
  ask_identity(out);
  flush(out);
  return out;
}

repo_effects repo_machine::on_remove(bool& removed, now_time now) {
  repo_effects out;
  static_cast<void>(now);
  removed = loaded_ && exists_;
  if (!removed)
    return out;
  if (job_)
    end_job(out, fail(ec::cancelled, "the repo was removed"));
  exists_ = false;
  removing_ = true;
  next_ = {};
  next_.erase = true;
  next_.forget = true;
  next_.buffer_clear = true;
  next_.old_status = written_status_;
  next_used_ = true;
  row_dirty_ = false; // The row goes; none takes its place.
  forget_waiting(out);
  out.untrack = true;
  flush(out);
  return out;
}

repo_effects repo_machine::on_resync(bool& queued, now_time now) {
  repo_effects out;
  static_cast<void>(now);
  queued = loaded_ && exists_;
  if (!queued || job_)
    return out;
  desync("asked for", out);
  row_.error.clear();
  flush(out);
  return out;
}

} // namespace weir::actors
