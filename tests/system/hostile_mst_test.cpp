#include "atproto/limits.hpp"
#include "atproto/mst.hpp"
#include "tests/support/hostile_tree.hpp"
#include "tests/system/hostile_downloads.hpp"

#include <algorithm>

// Trees that break the rules of protocol-coverage.md 5.1, as complete repos of
// hosts, and trees at their limits and just above them.

namespace weir::tests {

namespace {

using atproto::cid;

constexpr int top_depth = 4;

const bytes& record() {
  static const auto block = make_record("x");
  return block;
}

const cid& record_id() {
  static const auto id = cid::of_dag_cbor(record());
  return id;
}

/// Several entries in a node of each depth.
leaf_map leaves() {
  leaf_map out;
  const size_t sizes[top_depth + 1] = {60, 24, 12, 6, 3};
  for (int depth = 0; depth <= top_depth; ++depth)
    for (size_t i = 0; i < sizes[depth]; ++i)
      out.emplace(path_of_depth(depth, i), record_id());
  return out;
}

/// One way to break a node.
struct breaker {
  std::string what;
  size_t entries; ///< Number of entries that the node must have.
  bool children;  ///< Whether it must have a child at both of its ends.
  std::function<void(tree_sketch&)> change;
};

std::function<void(tree_sketch&)> edit(std::function<void(raw_node&)> x) {
  return [x = std::move(x)](tree_sketch& node) {
    node.edit = x;
  };
}

/// Appends a key of another depth after all keys of its node.
void add_stray_key(tree_sketch& x) {
  for (size_t i = 0;; ++i) {
    auto key = path_of_depth(x.depth + 1, i);
    if (key <= x.entries.back().key)
      continue;
    x.entries.push_back({std::move(key), record_id(), nullptr});
    return;
  }
}

void add_level(tree_sketch& x) {
  auto bridge = std::make_unique<tree_sketch>();
  bridge->left = std::move(x.left);
  x.left = std::move(bridge);
}

std::vector<breaker> breakers() {
  return {
    {"prefix too short", 2, false, edit([](raw_node& x) {
       x.entries[1].prefix = 3;
     })},
    {"prefix too long", 2, false, edit([](raw_node& x) {
       x.entries[1].prefix = 200;
     })},
    {"prefix without a key before", 1, false, edit([](raw_node& x) {
       x.entries[0].prefix = 1;
     })},
    {"prefix of -1", 1, false, edit([](raw_node& x) {
       x.entries[0].prefix = UINT64_MAX;
     })},
    {"prefix of 2^63-1", 1, false, edit([](raw_node& x) {
       x.entries[0].prefix = INT64_MAX;
     })},
    {"keys out of order", 2, false, edit([](raw_node& x) {
       std::swap(x.entries[0].key, x.entries[1].key);
     })},
    {"key twice", 2, false, edit([](raw_node& x) {
       x.entries[1].key = x.entries[0].key;
     })},
    {"empty key", 1, false, edit([](raw_node& x) {
       x.entries[0].key.clear();
     })},
    {"key too long", 1, false, edit([](raw_node& x) {
       x.entries.back().key.resize(limits::mst_key_bytes_max + 1, 'z');
     })},
    {"key of another depth", 1, false, add_stray_key},
    {"empty child", 1, false,
     [](tree_sketch& x) {
       x.entries.back().right = std::make_unique<tree_sketch>();
     }},
    {"children exchanged", 1, true,
     [](tree_sketch& x) {
       std::swap(x.left, x.entries.back().right);
     }},
    {"a level too many", 1, true, add_level},
  };
}

/// A node of this depth that `x` can break, or null.
tree_sketch* find_node(tree_sketch& tree, int depth, const breaker& x) {
  const auto nodes = tree.nodes();
  const auto i = std::find_if(nodes.begin(), nodes.end(), [&](const auto* y) {
    return y->depth == depth && y->entries.size() >= x.entries
           && (!x.children || (y->left && y->entries.back().right));
  });
  return i == nodes.end() ? nullptr : *i;
}

/// The `n`th key of this many bytes that belongs to the lowest level.
std::string lowest_key(size_t n, size_t size) {
  for (size_t i = 0;; ++i) {
    auto key = std::to_string(10'000 + n) + '/' + std::to_string(i);
    key.resize(size, 'x');
    if (atproto::mst::key_depth(key) == 0)
      return key;
  }
}

/// A tree of one node with `count` entries.
std::unique_ptr<tree_sketch> node_of_entries(size_t count) {
  leaf_map out;
  for (size_t i = 0; i < count; ++i)
    out.emplace(path_of_depth(0, i), record_id());
  return sketch_of(out);
}

/// A tree of one node with `size` bytes: the last key takes the rest.
std::unique_ptr<tree_sketch> node_of_bytes(size_t size) {
  constexpr size_t key_bytes = 1'000;
  constexpr size_t last_key_bytes = 300;
  constexpr size_t keys = 997;
  leaf_map out;
  for (size_t i = 0; i < keys; ++i)
    out.emplace(lowest_key(i, key_bytes), record_id());
  const auto with = [&](size_t last) {
    auto all = out;
    all.emplace(lowest_key(keys, last), record_id());
    return sketch_of(all);
  };
  std::vector<named_block> blocks;
  with(last_key_bytes)->encode(blocks);
  return with(last_key_bytes + size - blocks.front().second.size());
}

class HostileMstTest : public ::testing::Test {
protected:
  void add(const std::string& what, const cid& root,
           std::vector<named_block> blocks, const std::string& error) {
    const auto repo = all.make_repo();
    blocks.emplace_back(record_id(), record());
    all.add_body(
      what, repo,
      signed_car(repo, {repo.did(), repo.rev(), root, {}, {}}, blocks), error);
  }

  void add(const std::string& what, const tree_sketch& tree,
           const std::string& error) {
    std::vector<named_block> blocks;
    const auto root = tree.encode(blocks);
    add(what, root, std::move(blocks), error);
  }

  hostile_downloads all;
};

} // namespace

// hostile-inputs.md 2.1.13, 2.1.14: prefix length; order, height, duplicates,
// empty nodes.
TEST_F(HostileMstTest, EachRuleIsHeldAtEachDepth) {
  add("sound", *sketch_of(leaves()), "");
  size_t broken = 0;
  for (const auto& x : breakers())
    for (int depth = 0; depth <= top_depth; ++depth) {
      const auto tree = sketch_of(leaves());
      auto* node = find_node(*tree, depth, x);
      if (node == nullptr)
        continue;
      x.change(*node);
      add(x.what + " at depth " + std::to_string(depth), *tree, "malformed");
      ++broken;
    }
  // A node of depth 0 has no children.
  EXPECT_EQ(broken, 11u * (top_depth + 1) + 2u * top_depth);
  all.run(64 * megabyte);
}

// hostile-inputs.md 2.1.15: each node has the next one on both sides of its
// key, so that a walk which only follows links makes 2^65 visits.
TEST_F(HostileMstTest, DagBombsEndAtTheirSecondVisit) {
  const auto bomb = [](int nodes, const std::function<int(int)>& depth_of,
                       std::vector<named_block>& blocks) {
    cid below;
    for (int i = 0; i < nodes; ++i) {
      auto block = encode_raw(
        {below, {{path_of_depth(depth_of(i), 0), record_id(), below}}});
      below = cid::of_dag_cbor(block);
      blocks.emplace_back(below, std::move(block));
    }
    return below;
  };
  std::vector<named_block> any;
  const auto any_root = bomb(
    65,
    [](int i) {
      return i % 5;
    },
    any);
  add("65 nodes", any_root, any, "malformed");
  std::vector<named_block> sound;
  const auto sound_root = bomb(
    7,
    [](int i) {
      return i;
    },
    sound);
  add("keys at their depth", sound_root, sound, "malformed");
  tree_sketch pointer;
  pointer.left = sketch_of(leaves());
  add("a root that only points down", pointer, "malformed");
  all.run(32 * megabyte);
}

// hostile-inputs.md 2.1.13, 2.1.14: limits::mst_key_bytes_max,
// mst_node_entries_max; protocol-coverage.md 5.7: mst_node_bytes_max
TEST_F(HostileMstTest, NodesAreTakenUpToTheirLimitsAndNotAbove) {
  const auto of_key = [](size_t size) {
    return sketch_of({{std::string(size, 'k'), record_id()}});
  };
  const auto bytes_of = [](const tree_sketch& x) {
    std::vector<named_block> blocks;
    x.encode(blocks);
    return blocks.front().second.size();
  };
  constexpr auto key_most = limits::mst_key_bytes_max;
  constexpr auto entries_most = limits::mst_node_entries_max;
  constexpr auto bytes_most = limits::mst_node_bytes_max;
  add("key as long as may be", *of_key(key_most), "");
  add("key a byte too long", *of_key(key_most + 1), "MST key too long");
  add("as many entries as may be", *node_of_entries(entries_most), "");
  add("an entry too many", *node_of_entries(entries_most + 1),
      "too many entries in an MST node");
  const auto largest = node_of_bytes(bytes_most);
  ASSERT_EQ(bytes_of(*largest), bytes_most);
  add("as large as may be", *largest, "");
  add("a byte too large", *node_of_bytes(bytes_most + 1), "MST node too large");
  all.run(32 * megabyte);
}

} // namespace weir::tests
