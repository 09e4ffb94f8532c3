#include "actors/repo/repo_chain.hpp"

#include <utility>

namespace weir::actors {

namespace {

/// The block that the account signed, as an operation.
storage::new_operation block_of(atproto::op_action action,
                                const atproto::cid& commit,
                                const shared_bytes& block) {
  return {std::string{storage::commit_scope}, action, {}, commit, block, false};
}

storage::transaction transaction_of(atproto::tid rev) {
  storage::transaction out;
  out.rev = rev;
  out.time_us = rev.time().micros;
  return out;
}

} // namespace

void repo_chain::return_to(const storage::chain_row* x) {
  rev_ = x == nullptr ? atproto::tid{} : x->rev;
  data_ = x == nullptr ? atproto::cid{} : x->data;
}

void repo_chain::apply(const waiting_frame& x,
                       const atproto::verified_commit& commit,
                       const wire::collection_filter& filter, repo_turn& t) {
  auto tx = transaction_of(commit.rev);
  if (x.buffered)
    tx.from = storage::provenance::buffer;
  size_t bytes = commit.commit_block.size();
  for (const auto& op : commit.ops) {
    if (!filter.matches(op.collection))
      continue;
    bytes += op.record.size();
    tx.ops.push_back(
      {op.collection, op.action, op.rkey, op.id, op.record, op.undecodable});
  }
  t.count(tx.ops.empty() && !commit.ops.empty() ? repo_counter::commit_filtered
                                                : repo_counter::commit_applied);
  for (auto i = undecodable_in(tx.ops); i > 0; --i)
    t.count(repo_counter::record_undecodable);
  tx.ops.push_back(
    block_of(atproto::op_action::create, commit.commit, commit.commit_block));
  t.lane.append(std::move(tx), bytes);
  t.lane.move_chain({commit.rev, commit.data, commit.commit, true});
  rev_ = commit.rev;
  data_ = commit.data;
}

void repo_chain::apply(const atproto::verified_sync& sync, repo_turn& t) {
  auto tx = transaction_of(sync.rev);
  tx.ops.push_back(
    block_of(atproto::op_action::update, sync.commit, sync.commit_block));
  t.lane.append(std::move(tx));
  t.lane.move_chain({sync.rev, sync.data, sync.commit, true});
  rev_ = sync.rev;
  data_ = sync.data;
}

void repo_chain::apply(const atproto::verified_root& root, uint64_t job,
                       repo_turn& t) {
  if (root.rev == rev_ && root.data == data_)
    return;
  auto tx = transaction_of(root.rev);
  tx.from = storage::provenance::resync;
  tx.live = false;
  tx.job = job;
  tx.ops.push_back(
    block_of(atproto::op_action::create, root.commit, root.commit_block));
  t.lane.append(std::move(tx));
  t.lane.move_chain({root.rev, root.data, root.commit, false});
  rev_ = root.rev;
  data_ = root.data;
}

} // namespace weir::actors
