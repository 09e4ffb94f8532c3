#include "actors/repo/repo_machine.hpp"
#include "base/limits.hpp"
#include "storage/account_fact.hpp"

#include <algorithm>
#include <utility>

/// Whether the account is active, and who may say so (protocol.md 4).
namespace weir::actors {

using storage::account_status;
using storage::repo_status;

namespace {

account_status to_account_status(bool active, std::string_view status) {
  if (active)
    return account_status::active; // throttled, desynchronized: visible.
  if (status == "deactivated")
    return account_status::deactivated;
  if (status == "suspended")
    return account_status::suspended;
  if (status == "takendown")
    return account_status::takendown;
  if (status == "deleted")
    return account_status::deleted;
  return account_status::inactive;
}

} // namespace

/// One `$identity` or `$account` operation: the facts as they are now.
void repo_machine::append_fact(std::string_view scope, now_time now) {
  const auto json = storage::fact_json(row_);
  const auto content = as_bytes(json);
  storage::transaction tx;
  tx.time_us = now.wall.micros;
  tx.ops.push_back({std::string{scope},
                    atproto::op_action::update,
                    {},
                    atproto::cid::of_raw(content),
                    shared_bytes::copy_of(content),
                    false});
  next_bytes_ += json.size();
  next_.transactions.push_back(std::move(tx));
  next_used_ = true;
}

// -- #account -----------------------------------------------------------------

/// Frames come again after a crash; what was decided by a later one stays.
bool repo_machine::account_replayed(const waiting_frame& x) const noexcept {
  return row_.account_at.reaches(x.frame.at);
}

void repo_machine::take_account(const waiting_frame& x,
                                const atproto::account_event& event,
                                now_time now, repo_effects& out) {
  doubt_.forget_word(x.frame.at.upstream);
  obey_event(x, event, now, out);
  settle(x, out);
}

void repo_machine::obey_event(const waiting_frame& x,
                              const atproto::account_event& event, now_time now,
                              repo_effects& out) {
  if (account_replayed(x)) {
    count(repo_counter::replayed, out);
    return;
  }
  row_.account_at = x.frame.at;
  set_account(to_account_status(event.active, event.status), now, out);
}

void repo_machine::set_account(account_status status, now_time now,
                               repo_effects& out) {
  if (status == row_.account)
    return;
  count(repo_counter::account_changed, out);
  suspicion_.reset(); // Seen before this.
  const auto was_whole = row_.status == repo_status::synced;
  row_.account = status;
  touch_row();
  if (status == account_status::active) {
    append_fact(storage::account_scope, now);
    // Commits that came meanwhile were dropped. A fetch that finds nothing new
    // appends nothing.
    row_.status = status_without_job();
    if (was_whole)
      row_.error = "commits may have been missed while it was inactive";
    wish_fetch(now, out);
    return;
  }
  if (job_) {
    end_job(out, fail(ec::account_inactive, storage::to_string(status)));
    row_.status = status_without_job();
  }
  if (status == account_status::deleted)
    purge();
  append_fact(storage::account_scope, now);
}

/// protocol.md 4; architecture.md 3, Erasing. Commits that wait in this very
/// update would outlive the mark, so they go at once.
void repo_machine::purge() {
  drop_commits();
  next_.erase = true;
  ++row_.incarnation;
  row_.status = repo_status::pending;
  row_.last_indexed_rev = {};
  row_.first_rev = {};
  row_.fcsr = {};
  tip_ = {};
}

// -- what getRepo says of the account (protocol.md 5) -------------------------

/// A host that was asked by an old document may be the former one: its word
/// counts when a new document names it again.
bool repo_machine::doubt_host_word(account_status status, now_time now,
                                   repo_effects& out) {
  if (identity_
      && now.wall.seconds() - identity_->fetched_at
           <= limits::identity_current.count())
    return false;
  host_word_ = host_word{status, identity_ ? identity_->pds : row_.pds,
                         now.wall.seconds()};
  pace_.wanted = true;
  try_refresh(now, out);
  return true;
}

void repo_machine::take_host_word(now_time now, repo_effects& out) {
  if (!host_word_ || identity_->fetched_at < host_word_->at || job_)
    return;
  const auto said = *std::exchange(host_word_, std::nullopt);
  if (row_.status != repo_status::error)
    return;
  if (identity_->pds == said.pds) {
    obey_host(said.account, now, out);
    return;
  }
  row_.next_retry = 0; // Another host: ask that one.
  touch_row();
  out.wish = fetch_wish{row_.status, 0};
}

void repo_machine::obey_host(account_status status, now_time now,
                             repo_effects& out) {
  row_.status = status_without_job();
  row_.error.clear();
  row_.retry_count = 0;
  row_.next_retry = 0;
  touch_row();
  set_account(status, now, out);
}

} // namespace weir::actors
