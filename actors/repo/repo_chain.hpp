#pragma once

#include "actors/repo/repo_turn.hpp"
#include "storage/format/limits.hpp"

#include <utility>

namespace weir::actors {

/// The newest commit of a repo's copy: its rev and the root of its data, as the
/// next update leaves them. Only values of `atproto::verify_*` move the chain.
class repo_chain {
public:
  /// Undefined when there is no copy.
  atproto::tid rev() const noexcept { return rev_; }
  const atproto::cid& data() const noexcept { return data_; }

  /// Whether the commit follows directly on the data of the copy.
  bool is_followed_by(const atproto::verified_commit& x) const noexcept {
    return x.prev_data.defined() && x.prev_data == data_;
  }

  /// Goes back to the durable state.
  /// @param x Null when nothing is durable.
  void return_to(const storage::chain_row* x) {
    rev_ = x == nullptr ? atproto::tid{} : x->rev;
    data_ = x == nullptr ? atproto::cid{} : x->data;
    passed_ = x == nullptr ? 0 : x->passed;
  }

  void forget() noexcept { return_to(nullptr); }

  /// Appends the commit with its records that pass the filter. A commit without
  /// any gets no entry of the log; it only moves the chain (SYNC-24).
  /// @pre is_followed_by(commit)
  void apply(const waiting_frame& x, const atproto::verified_commit& commit,
             const wire::collection_filter& filter, repo_turn& t) {
    storage::transaction tx;
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
    t.count(tx.ops.empty() && !commit.ops.empty()
              ? repo_counter::commit_filtered
              : repo_counter::commit_applied);
    t.count_undecodable(tx.ops);
    if (tx.ops.empty()
        && commit.commit_block.size() <= limits::passed_block_bytes_max)
      pass(commit, t);
    else
      append(std::move(tx), atproto::op_action::create, commit, bytes, t);
  }

  /// Moves to a newer commit that has the same data.
  void apply(const atproto::verified_sync& sync, repo_turn& t) {
    append({}, atproto::op_action::update, sync, 0, t);
  }

  /// Moves to the root of a fetch whose records are all written.
  void apply(const atproto::verified_root& root, uint64_t job, repo_turn& t) {
    if (root.rev == rev_ && root.data == data_)
      return;
    storage::transaction tx;
    tx.from = storage::provenance::resync;
    tx.live = false;
    tx.job = job;
    append(std::move(tx), atproto::op_action::create, root, 0, t);
  }

private:
  /// Moves the chain to a commit of which nothing is kept. Its block is copied,
  /// because a part of its frame would keep the whole frame in memory.
  void pass(const atproto::verified_commit& x, repo_turn& t) {
    t.lane.pass_commit({x.rev, x.data, x.commit, true, ++passed_,
                        shared_bytes::copy_of(x.commit_block.view())});
    rev_ = x.rev;
    data_ = x.data;
  }

  /// Appends the block that the account signed to `tx`, and moves the chain.
  template <class Commit>
  void append(storage::transaction tx, atproto::op_action action,
              const Commit& x, size_t content_bytes, repo_turn& t) {
    tx.rev = x.rev;
    tx.time_us = x.rev.time().micros;
    tx.passed = std::exchange(passed_, 0);
    tx.ops.push_back({std::string{storage::commit_scope},
                      action,
                      {},
                      x.commit,
                      x.commit_block,
                      false});
    t.lane.move_chain({x.rev, x.data, x.commit, tx.live});
    t.lane.append(std::move(tx), content_bytes);
    rev_ = x.rev;
    data_ = x.data;
  }

  atproto::tid rev_;
  atproto::cid data_;
  /// Commits since the last `$commit` operation of which nothing was kept.
  uint64_t passed_ = 0;
};

} // namespace weir::actors
