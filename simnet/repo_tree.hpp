#pragma once

#include "atproto/cid.hpp"
#include "base/bytes.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::simnet {

/// One record as its host stores it.
struct record {
  atproto::cid id;
  bytes block;
};

/// All records of one account, kept as their Merkle search tree
/// (protocol-coverage.md 5.1), so that a commit costs only the nodes that it
/// changes. It does not use `atproto::mst`, so that the network does not repeat
/// an error of what it tests.
///
/// # Ownership and threads
/// Owns records and node blocks. One thread at a time.
class repo_tree {
public:
  /// A block of the tree: a node or a record. Borrowed until the next change.
  struct block {
    const atproto::cid* id;
    bytes_view data;
  };

  repo_tree();
  ~repo_tree();
  repo_tree(repo_tree&&) noexcept;
  repo_tree& operator=(repo_tree&&) noexcept;

  /// Sets the record of `path`. @returns the CID before, undefined when it is
  /// new.
  atproto::cid put(std::string path, record x);

  /// Removes a record. @returns its CID, undefined when there was none.
  atproto::cid remove(std::string_view path);

  /// The record of `path`, or null. Valid until the next change.
  const record* find(std::string_view path) const noexcept;

  /// Hashes the changed nodes and returns the root. All calls below see the
  /// tree as it was at the last `root`.
  const atproto::cid& root();

  /// Number of records in the tree.
  size_t size() const noexcept;

  /// Path of the record at `index` in path order. @pre `index < size()`
  const std::string& path_at(size_t index) const;

  /// Visits records in path order, beginning after `after`, until `visit`
  /// returns false.
  using visitor = std::function<bool(const std::string& path, const record& x)>;
  void visit(std::string_view after, const visitor& visit) const;

  /// All blocks: each node before the nodes below it, records in path order.
  std::vector<block> blocks() const;

  /// The nodes that prove `paths` present or absent, with the neighbouring
  /// nodes on both sides of each path, which are needed to undo the change.
  std::vector<block> proof(std::span<const std::string_view> paths) const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::simnet
