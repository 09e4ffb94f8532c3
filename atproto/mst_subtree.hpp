#pragma once

#include "atproto/mst_node.hpp"

#include <memory>
#include <utility>

/// The loaded parts of a mutable tree and the three things done to them:
/// load, split, merge. Internal to `tree`.
namespace weir::atproto::mst {

struct tree_node;

/// A subtree: null, known by its CID alone, or loaded. A loaded one without
/// CID has changed since the root was last computed.
struct subtree {
  cid id;
  std::unique_ptr<tree_node> node;

  bool null() const noexcept { return !node && !id.defined(); }
};

struct tree_entry {
  std::string key;
  cid value;
  subtree right;
};

struct tree_node {
  subtree left;
  std::vector<tree_entry> entries;

  /// The subtree before entry `i`.
  subtree& child(size_t i) noexcept {
    return i == 0 ? left : entries[i - 1].right;
  }

  /// First entry whose key is not less than `key`.
  size_t find(std::string_view key) const noexcept;

  bool holds(size_t i, std::string_view key) const noexcept {
    return i < entries.size() && entries[i].key == key;
  }

  bool empty() const noexcept { return entries.empty() && left.null(); }
};

/// Where a subtree hangs: its depth, and the keys its own lie between. An
/// empty bound is none.
struct place {
  int depth = 0;
  std::string_view low;
  std::string_view high;

  /// Place of the subtree before entry `i` of the node `x` here.
  place child(const tree_node& x, size_t i) const noexcept {
    return {depth - 1, i == 0 ? low : std::string_view{x.entries[i - 1].key},
            i == x.entries.size() ? high : std::string_view{x.entries[i].key}};
  }
};

/// The error for a key found at a depth that is not its own.
error misplaced(std::string_view key);

/// Decodes a node whose subtrees are stubs.
result<std::unique_ptr<tree_node>> load_node(bytes_view block);

/// The node of `x`, loaded when it is not yet and checked to fit `at`. A block
/// that `source` does not have is `ec::unverifiable`.
/// @pre `x` is not null
result<tree_node*> open(subtree& x, const place& at,
                        const block_source& source);

/// Cuts a subtree into the keys before and after `key`, which is in neither. A
/// half that is the whole keeps its CID.
result<std::pair<subtree, subtree>> split(subtree x, const place& at,
                                          std::string_view key,
                                          const block_source& source);

/// Joins two neighbours of one depth that nothing parts any more. `between` is
/// the key that did; the keys next to it are looked at, even where nothing is
/// joined, so that none of them is on its wrong side.
result<subtree> merge(subtree x, subtree y, const place& at,
                      std::string_view between, const block_source& source);

/// Encodes what changed and returns the CID; undefined when null.
cid seal(subtree& x, const block_sink& sink);

} // namespace weir::atproto::mst
