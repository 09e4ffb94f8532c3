#pragma once

#include "tests/support/repo_builder.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Search trees that may break every rule of protocol-coverage.md 5.1.

namespace weir::tests {

/// The CID of a block that is these characters.
inline atproto::cid make_cid(std::string_view text) {
  return atproto::cid::of_dag_cbor(as_bytes(text));
}

/// One entry of a node about to be written.
struct raw_entry {
  std::string key;
  atproto::cid value;
  atproto::cid right;
  /// Length of the prefix left out, whether or not it is shared with the key
  /// before; the shared one when absent.
  std::optional<uint64_t> prefix = std::nullopt;
};

struct raw_node {
  atproto::cid left;
  std::vector<raw_entry> entries;
};

/// Writes what it is told, without a question.
bytes encode_raw(const raw_node& x);

/// A tree in pieces.
struct tree_sketch {
  struct entry {
    std::string key;
    atproto::cid value;
    std::unique_ptr<tree_sketch> right;
  };

  int depth = 0;
  std::unique_ptr<tree_sketch> left;
  std::vector<entry> entries;
  /// Changes the node right before it is written.
  std::function<void(raw_node&)> edit;

  /// This node and all below.
  std::vector<tree_sketch*> nodes();

  /// Appends the blocks of all nodes, children first; returns the root.
  atproto::cid encode(std::vector<named_block>& out) const;
};

using leaf_map = std::map<std::string, atproto::cid, std::less<>>;

/// The sound tree over `leaves`, which are not empty.
std::unique_ptr<tree_sketch> sketch_of(const leaf_map& leaves);

/// The `n`th valid repo path of a depth.
std::string path_of_depth(int depth, size_t n);

} // namespace weir::tests
