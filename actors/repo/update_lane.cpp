#include "actors/repo/update_lane.hpp"

#include "storage/format/account_fact.hpp"

#include <algorithm>

namespace weir::actors {

void update_lane::append_fact(std::string_view scope,
                              const storage::repo_row& row, now_time now) {
  const auto json = storage::fact_json(row);
  const auto content = as_bytes(json);
  storage::transaction tx;
  tx.time_us = now.wall.micros;
  tx.ops.push_back({std::string{scope},
                    atproto::op_action::update,
                    {},
                    atproto::cid::of_raw(content),
                    shared_bytes::copy_of(content),
                    false});
  append(std::move(tx), json.size());
}

void update_lane::remove() {
  next_ = {};
  passed_ = 0;
  next_.erase = true;
  next_.forget = true;
  next_.buffer_clear = true;
  next_.old_status = written_status_;
  used_ = true;
  row_dirty_ = false; // The row is removed, and no other takes its place.
}

void update_lane::settle(const waiting_frame& x, repo_effects& out) {
  if (x.buffered)
    return;
  if (used_)
    marks_.push_back(x.frame.at);
  else if (in_flight_)
    followers_.push_back(x.frame.at);
  else
    out.done.push_back(x.frame.at);
}

/// Adds what the committer compares before it writes, so that neither a
/// predecessor's update nor one computed on another chain is written.
std::shared_ptr<storage::repo_update>
update_lane::guarded(storage::repo_update x) const {
  x.repo = repo_;
  x.actor_incarnation = incarnation_;
  x.commit_revision = chain_ == nullptr ? 0 : chain_->commit_revision();
  x.base = chain_;
  return std::make_shared<storage::repo_update>(std::move(x));
}

void update_lane::send(const storage::repo_row& row, repo_effects& out) {
  remember_sent();
  if (row_dirty_) {
    next_.row = row;
    next_.old_status = written_status_;
    written_status_ = row.status;
    row_dirty_ = false;
  }
  out.update
    = journal_update{guarded(std::exchange(next_, {})),
                     std::exchange(marks_, {}), false,
                     std::exchange(content_bytes_, 0)};
  passed_ = 0;
  used_ = false;
  in_flight_ = true;
}

void update_lane::remember_sent() {
  sent_.marks.assign(marks_.begin(), marks_.end());
  sent_.written_status = written_status_;
  sent_.member = next_.member;
  sent_.erase = next_.erase;
  sent_.buffer_clear = next_.buffer_clear;
  sent_.moves_chain = next_.chain.has_value() || next_.erase;
  sent_.commits = next_.chain.has_value();
  sent_.account_fact = sent_.identity_fact = false;
  for (const auto& tx : next_.transactions) {
    sent_.commits |= is_commit(tx);
    sent_.account_fact |= tx.ops.front().scope == storage::account_scope;
    sent_.identity_fact |= tx.ops.front().scope == storage::identity_scope;
  }
}

void update_lane::send_chunk(repo_chunk x, repo_effects& out) {
  journal_update made{guarded({}), {}, true};
  made.update->resync_id = x.job;
  storage::transaction tx;
  tx.rev = x.rev;
  tx.from = storage::provenance::resync;
  tx.live = false;
  tx.job = x.job;
  tx.time_us = x.rev.time().micros;
  for (const auto& op : x.ops)
    made.content_bytes += op.content.size();
  tx.ops = std::move(x.ops);
  made.update->transactions.push_back(std::move(tx));
  out.update = std::move(made);
  sent_ = {};
  sent_.written_status = written_status_;
  in_flight_ = chunk_in_flight_ = true;
}

void update_lane::refused(bool removing) {
  std::move(followers_.begin(), followers_.end(), std::back_inserter(marks_));
  std::move(sent_.marks.begin(), sent_.marks.end(), std::back_inserter(marks_));
  followers_.clear();
  written_status_ = sent_.written_status;
  if (removing)
    next_.old_status = written_status_;
}

void update_lane::take_back(const storage::repo_row& row, now_time now) {
  drop_commits();
  next_.erase |= sent_.erase;
  next_.buffer_clear |= sent_.buffer_clear;
  if (!next_.member)
    next_.member = std::move(sent_.member);
  if (sent_.commits && sent_.identity_fact)
    append_fact(storage::identity_scope, row, now);
  if (sent_.commits && sent_.account_fact)
    append_fact(storage::account_scope, row, now);
}

} // namespace weir::actors
