#pragma once

#include "base/random.hpp"
#include "tests/support/hostile_tree.hpp"
#include "tests/support/repo_builder.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weir::differential {

/// An entry of a map with its encoded value.
struct encoded_field {
  std::string key;
  bytes value;
};

/// A repo export that is made in stages. Between two stages a fault may change
/// anything.
struct repo_maker {
  repo_maker(random_source& x, size_t records_max);

  void make_leaves(size_t size);
  void make_tree();
  void make_blocks();
  void make_commit();
  void sign_commit();
  void make_car();

  /// A random valid path.
  std::string new_path();

  /// Adds a record under `path`.
  void add_record(std::string path, bytes block);

  random_source& random;
  tests::test_repo account; ///< Its DID, key and time.
  size_t size = 0;
  tests::leaf_map leaves;
  std::vector<tests::named_block> records;
  std::unique_ptr<tests::tree_sketch> tree; ///< Null when there are no leaves.
  std::vector<tests::named_block> blocks;   ///< Nodes, the root last; records.
  size_t nodes = 0; ///< The number of nodes in `blocks`.
  atproto::cid data;
  std::vector<encoded_field> fields; ///< Fields of the commit.
  bytes commit;
  std::vector<atproto::cid> roots;
  bytes car;
};

enum class stage : uint8_t { leaves, tree, blocks, commit, signature, car };

/// One way to break a repo, directly after a stage.
struct repo_fault {
  std::string_view name;
  stage after;
  void (*apply)(repo_maker& x);
};

std::span<const repo_fault> tree_faults();
std::span<const repo_fault> commit_faults();
std::span<const repo_fault> car_faults();

bytes encode_text(std::string_view x);
bytes encode_link(const atproto::cid& x);

} // namespace weir::differential
