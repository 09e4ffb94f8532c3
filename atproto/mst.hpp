#pragma once

#include "atproto/cid.hpp"
#include "atproto/frame.hpp"
#include "atproto/limits.hpp"

#include <functional>
#include <memory>
#include <span>
#include <string_view>

/// Merkle search trees of repositories (protocol-coverage.md 5.1): the
/// depth of keys, building a tree from a sorted list, changing a tree, and
/// undoing the operations of a commit.
namespace weir::atproto::mst {

/// Depth of a key: half the number of leading zero bits of its SHA-256.
int key_depth(std::string_view key);

/// True for a possible depth. Nobody can find a key that is deeper than
/// `mst_depth_max`, so a root that claims to be deeper is refused.
inline bool is_depth_allowed(int depth) noexcept {
  return depth <= static_cast<int>(limits::mst_depth_max);
}

/// The CID of the empty tree.
const cid& empty_root();

/// Receives each block of a tree when it is made.
using block_sink = std::function<void(const cid& id, bytes_view block)>;

struct leaf {
  std::string_view key;
  cid value;
};

/// Computes the root of the tree over a sorted list of leaves. Call `add` with
/// strictly growing keys, then `finish`. It keeps one open node for each depth
/// in memory.
class builder {
public:
  /// @param sink Receives every node block, children first. It may be empty.
  explicit builder(block_sink sink = {});
  ~builder();

  builder(builder&&) = delete;
  builder(const builder&) = delete;
  builder& operator=(builder&&) = delete;
  builder& operator=(const builder&) = delete;

  /// @pre `key` is greater than all keys added before.
  void add(std::string_view key, const cid& value);

  cid finish();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Calls a `builder` for a list in memory that is sorted by key.
cid root_of(std::span<const leaf> leaves, const block_sink& sink = {});

/// Finds the block of a node by its CID; null when absent. The bytes stay valid
/// while the tree is in use, and the caller has checked that they hash to the
/// CID.
using block_source = std::function<const bytes_view*(const cid&)>;

/// A tree that can be changed and is loaded from blocks when needed. Subtrees
/// without a block are stubs; a call that needs one fails with
/// `ec::unverifiable`. It is made for the changes of one commit: the memory of
/// a key that it loaded or was given is kept until it ends.
///
/// # Errors
/// `ec::malformed` for a node that breaks a rule of protocol-coverage.md 5.1.
/// The depth is checked of only one key of a loaded node and of the keys that
/// are looked up; `check_inversion` says why this is enough. After an error of
/// `put`, `remove` or `root` each further call of them returns the same error.
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

  /// Sets a key. @returns the value before, undefined when it was absent.
  result<cid> put(std::string_view key, const cid& value);

  /// Removes a key. @returns its value, undefined when it was absent.
  result<cid> remove(std::string_view key);

  /// The CID of the root. Only changed nodes are hashed; their blocks go to
  /// `sink` when one is given.
  result<cid> root(const block_sink& sink = {});

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

/// Proves that `ops` lead from `prev_data` to the tree at `data`
/// (protocol-coverage.md 2.4). It undoes each op in the tree at `data`,
/// compares what it finds with the op, and compares the resulting root with
/// `prev_data`. Paths are checked to be valid and unique.
///
/// If the tree at `prev_data` is sound, so is the one at `data`, and the two
/// differ only by `ops`. The reason: undoing moves only the keys of the ops,
/// whose depth and neighbours are checked, so every other key has the same
/// place in both trees.
///
/// # Errors
/// `ec::verification_failed` when the proof does not hold, `ec::unverifiable`
/// when a stub is needed or an op lacks `prev`, `ec::malformed` for a bad node
/// or path.
result<void> check_inversion(const cid& data, const cid& prev_data,
                             std::span<const commit_op> ops,
                             const block_source& source);

} // namespace weir::atproto::mst
