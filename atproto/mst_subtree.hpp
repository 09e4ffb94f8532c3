#pragma once

#include "atproto/mst_node.hpp"

#include <memory>
#include <memory_resource>
#include <utility>
#include <vector>

/// The loaded parts of a tree that can be changed, and the three operations on
/// them: load, split, merge. Internal to `tree`.
namespace weir::atproto::mst {

struct tree_node;

/// A subtree: null, known only by its CID, or loaded. A loaded subtree without
/// CID was changed after the root was last computed.
struct subtree {
  cid id;
  std::unique_ptr<tree_node> node;

  bool null() const noexcept { return !node && !id.defined(); }
};

struct tree_entry {
  std::string_view key; ///< Lives as long as the tree's `tree_parts`.
  cid value;
  subtree right;
};

struct tree_node {
  subtree left;
  std::vector<tree_entry> entries;

  /// The subtree before entry `i`; for `i == size` the one after the last
  /// entry.
  subtree& child(size_t i) noexcept {
    return i == 0 ? left : entries[i - 1].right;
  }

  /// Index of the first entry whose key is not less than `key`.
  size_t find(std::string_view key) const noexcept;

  bool holds(size_t i, std::string_view key) const noexcept {
    return i < entries.size() && entries[i].key == key;
  }

  bool empty() const noexcept { return entries.empty() && left.null(); }
};

/// The place of a subtree: its depth, and the bounds between which its keys
/// must lie. An empty bound is no bound.
struct place {
  int depth = 0;
  std::string_view low;
  std::string_view high;

  /// The place of the subtree before entry `i` of the node `x`, which hangs
  /// here.
  place child(const tree_node& x, size_t i) const noexcept {
    return {depth - 1, i == 0 ? low : x.entries[i - 1].key,
            i == x.entries.size() ? high : x.entries[i].key};
  }
};

/// What all nodes of one tree share. A commit loads some nodes with dozens of
/// keys, so keys have no memory of their own, and nodes are read and written
/// with the same buffers.
struct tree_parts {
  /// A copy of the key, which stays until the tree ends.
  std::string_view keep(std::string_view key);

  block_source source;
  node_reader reader;
  node_writer writer;
  std::pmr::monotonic_buffer_resource keys{1'000};
};

/// The error for a key that stands at a depth that is not its own.
error misplaced(std::string_view key);

/// Decodes a node. Its subtrees are stubs.
result<std::unique_ptr<tree_node>> load_node(bytes_view block, tree_parts& of);

/// The node of `x`. If necessary it is loaded and checked to fit `at`. Fails
/// with `ec::unverifiable` when the tree's source does not have its block.
/// @pre `x` is not null
result<tree_node*> open(subtree& x, const place& at, tree_parts& of);

/// Splits a subtree into the part before and the part after `key`, which is in
/// neither. When one part is the whole subtree, it keeps its CID.
result<std::pair<subtree, subtree>> split(subtree x, const place& at,
                                          std::string_view key, tree_parts& of);

/// Joins two neighbours of the same depth after the key `between` them was
/// removed. The keys next to `between` are checked even when nothing is joined,
/// so that none of them stands on the wrong side.
result<subtree> merge(subtree x, subtree y, const place& at,
                      std::string_view between, tree_parts& of);

/// Encodes the changed nodes. @returns the CID; undefined when `x` is null.
cid seal(subtree& x, const block_sink& sink, tree_parts& of);

} // namespace weir::atproto::mst
