#pragma once

#include "atproto/commit.hpp"
#include "atproto/frame.hpp"
#include "atproto/signature.hpp"
#include "simnet/repo_tree.hpp"

#include <string>
#include <vector>

namespace weir::simnet {

/// One operation that an account asks its host for.
struct change {
  atproto::op_action action = atproto::op_action::create;
  std::string path;
  bytes block; ///< Empty for a removal.
};

/// A commit that is ready to be announced. `event` still lacks seq and time,
/// and borrows from the other members: move this as a whole, do not copy it.
struct signed_commit {
  signed_commit() = default;
  signed_commit(signed_commit&&) noexcept = default;
  signed_commit& operator=(signed_commit&&) noexcept = default;

  atproto::commit_event event;
  bytes slice; ///< A CAR with commit, proof and new records.
  std::vector<std::string> paths;
};

/// The repository of one account with its signing key. It makes sync 1.1
/// commits (protocol-coverage.md 2) and exports.
///
/// # Ownership and threads
/// Owns everything. One thread at a time.
class signed_repo {
public:
  /// What the last signed commit says.
  struct chain {
    atproto::tid rev;
    atproto::cid head;
    atproto::cid data;
    bytes block;
  };

  signed_repo(atproto::did id, atproto::private_key key);

  /// Stores a record that no commit announces yet.
  void import(std::string path, bytes block) {
    auto id = atproto::cid::of_dag_cbor(block);
    tree_.put(std::move(path), {std::move(id), std::move(block)});
  }

  /// Applies `changes` and signs. Paths must be unique. Updates and removals
  /// need an existing record; creates must not have one.
  /// @param rev Greater than the one before.
  signed_commit commit(std::vector<change> changes, atproto::tid rev);

  /// Makes a commit with one create that is signed by `forger`, and undoes it.
  /// An attacker who controls the stream could send it.
  signed_commit forge(change create, atproto::tid rev,
                      const atproto::private_key& forger);

  /// Signs the present tree under a new rev.
  void sign(atproto::tid rev);

  /// A CAR with only the commit block, as in #sync.
  bytes sync_slice() const;

  /// The whole repository as a CAR.
  /// @param shuffle Null: commit first, then the tree from its root.
  /// Otherwise the blocks are in random order.
  bytes export_car(random_source* shuffle) const;

  /// A CAR with the commit, the nodes down to `path`, and the record if there
  /// is one.
  bytes prove(std::string_view path) const;

  const chain& last() const noexcept { return chain_; }

  const repo_tree& tree() const noexcept { return tree_; }

  const atproto::did& id() const noexcept { return id_; }

  const atproto::private_key& key() const noexcept { return key_; }

  void set_key(atproto::private_key x) { key_ = x; }

private:
  atproto::commit_op apply(change& x);
  void sign(atproto::tid rev, const atproto::private_key& key);
  signed_commit commit(std::vector<change> changes, atproto::tid rev,
                       const atproto::private_key& key);
  void fill_slice(signed_commit& x) const;

  atproto::did id_;
  atproto::private_key key_;
  repo_tree tree_;
  chain chain_;
};

} // namespace weir::simnet
