#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/limits.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Merkle search trees of repositories (protocol-coverage.md 5.1): nodes,
/// building from a sorted list, mutation, and the inversion of a commit's
/// operations.
namespace weir::atproto::mst {

/// Depth of a key: leading zero bits of its SHA-256, halved.
int key_depth(std::string_view key);

/// No key that anybody could find is deeper; a root that claims it is refused.
inline bool is_depth_allowed(int depth) noexcept {
  return depth <= static_cast<int>(limits::mst_depth_max);
}

/// One entry of a decoded node, key prefix already expanded.
struct node_entry {
  std::string key;
  cid value;
  cid right; ///< Subtree after the key; undefined when null.
};

struct node {
  cid left; ///< Subtree before the first key; undefined when null.
  std::vector<node_entry> entries;
};

/// Decodes one node and checks every rule that can be seen inside it: exact
/// keys, shortest-prefix form, order, one depth for all keys, limits.
/// Record paths with wrong syntax are accepted here (protocol-coverage.md 5.1).
result<node> decode_node(bytes_view block);

bytes encode_node(const node& x);

/// CID of the empty tree.
const cid& empty_root();

/// Receives each block of a tree as it is made.
using block_sink = std::function<void(const cid& id, bytes_view block)>;

struct leaf {
  std::string_view key;
  cid value;
};

/// Root of the tree over `leaves`. Streaming: `add` in strictly growing key
/// order, then `finish`; memory is one open node a depth.
class builder {
public:
  /// @param sink Gets every node block, children first; may be empty.
  explicit builder(block_sink sink = {});
  ~builder();

  builder(builder&&) = delete;
  builder(const builder&) = delete;
  builder& operator=(builder&&) = delete;
  builder& operator=(const builder&) = delete;

  /// @pre `key` is greater than all keys before.
  void add(std::string_view key, const cid& value);

  cid finish();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Convenience over `builder` for a list in memory, sorted by key.
cid root_of(std::span<const leaf> leaves, const block_sink& sink = {});

/// Finds a node block by CID; null when absent. The bytes stay valid while the
/// tree is in use and hash to the CID (the caller checked).
using block_source = std::function<const bytes_view*(const cid&)>;

/// A mutable tree loaded lazily from blocks; missing children are stubs, and
/// touching one is `ec::unverifiable`.
///
/// # Errors
/// `ec::malformed` for a node that breaks a rule of protocol-coverage.md 5.1.
/// Of the keys of a loaded node only one is hashed for its depth, and those
/// that are looked up; `check_inversion` says why this is enough. After an
/// error of `put`, `remove` or `root` each of them returns it again.
class tree {
public:
  tree(); ///< The empty tree.
  ~tree();
  tree(tree&&) noexcept;
  tree& operator=(tree&&) noexcept;
  tree(const tree&) = delete;
  tree& operator=(const tree&) = delete;

  /// Loads the root. Fails when its block is missing or invalid.
  static result<tree> load(const cid& root, block_source source);

  /// Value of a key; undefined CID when absent.
  result<cid> get(std::string_view key) const;

  /// Sets a key, returns the value before (undefined when it was absent).
  result<cid> put(std::string_view key, const cid& value);

  /// Removes a key, returns its value (undefined when it was absent).
  result<cid> remove(std::string_view key);

  /// Root CID after normalising; hashes only changed nodes. Changed node
  /// blocks go to `sink` when given.
  result<cid> root(const block_sink& sink = {});

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Proves that `ops` lead from `prev_data` to the tree at `data`
/// (protocol-coverage.md 2.4): undoes each op, checks what it finds on the way
/// against the op, and compares the root. Paths are checked to be valid and
/// unique.
///
/// When the tree at `prev_data` is sound, so is the one at `data`, and the two
/// differ by `ops` alone: undoing moves nothing but the ops' own keys, whose
/// depth and neighbours are checked, so every other key stands in `data` where
/// it stands in `prev_data`.
///
/// # Errors
/// `ec::verification_failed` (the proof does not hold), `ec::unverifiable`
/// (stub touched or op.prev missing), `ec::malformed` (bad node or path).
result<void> check_inversion(const cid& data, const cid& prev_data,
                             std::span<const commit_op> ops,
                             const block_source& source);

} // namespace weir::atproto::mst
