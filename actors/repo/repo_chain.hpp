#pragma once

#include "actors/repo/repo_turn.hpp"

namespace weir::actors {

/// The newest commit of a repo's copy: its rev and the root of its data, as the
/// next update will leave them. Only values that `atproto::verify_*` made move
/// the chain.
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
  void return_to(const storage::chain_row* x);

  void forget() noexcept { return_to(nullptr); }

  /// Appends the commit and those of its records that pass the filter. The
  /// chain moves even when no record passes (SYNC-24).
  /// @pre is_followed_by(commit)
  void apply(const waiting_frame& x, const atproto::verified_commit& commit,
             const wire::collection_filter& filter, repo_turn& t);

  /// Moves to a newer commit that has the same data.
  void apply(const atproto::verified_sync& sync, repo_turn& t);

  /// Moves to the root of a fetch whose records are all written.
  void apply(const atproto::verified_root& root, uint64_t job, repo_turn& t);

private:
  atproto::tid rev_;
  atproto::cid data_;
};

} // namespace weir::actors
