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

/// The CID of a DAG-CBOR block with this text as its bytes.
inline atproto::cid make_cid(std::string_view text) {
  return atproto::cid::of_dag_cbor(as_bytes(text));
}

/// One entry of a node that is to be written.
struct raw_entry {
  std::string key;
  atproto::cid value;
  atproto::cid right;
  /// Length of the prefix that is left out, whether or not the key before
  /// shares it. When absent, the length that is really shared.
  std::optional<uint64_t> prefix = std::nullopt;
};

struct raw_node {
  atproto::cid left;
  std::vector<raw_entry> entries;
};

/// Encodes the node as it is, without any check.
bytes encode_raw(const raw_node& x);

/// The entries of a node, as the product's `node_reader` finds them.
result<raw_node> decode_node(bytes_view block);

/// Encodes a sound node with the product's `node_writer`.
bytes encode_node(const raw_node& x);

/// A tree as separate nodes that can be changed.
struct tree_sketch {
  struct entry {
    std::string key;
    atproto::cid value;
    std::unique_ptr<tree_sketch> right;
  };

  int depth = 0;
  std::unique_ptr<tree_sketch> left;
  std::vector<entry> entries;
  /// Changes the node just before it is written.
  std::function<void(raw_node&)> edit;

  /// This node and all nodes below it.
  std::vector<tree_sketch*> nodes();

  /// Appends the blocks of all nodes, children first; returns the root.
  atproto::cid encode(std::vector<named_block>& out) const;
};

using leaf_map = std::map<std::string, atproto::cid, std::less<>>;

/// The valid tree over `leaves`, which must not be empty.
std::unique_ptr<tree_sketch> sketch_of(const leaf_map& leaves);

/// The `n`th valid repo path of a depth.
std::string path_of_depth(int depth, size_t n);

} // namespace weir::tests
