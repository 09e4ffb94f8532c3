#include "atproto/repo_walk.hpp"
#include "tests/support/hostile_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// Proves protocol-coverage.md 5.1 at every depth of a tree, and
// hostile-inputs.md 2.1.15.

namespace weir::tests {

using namespace atproto;

namespace {

/// The result of a walk.
struct hostile_walk {
  ec code = ec::none;
  std::string fault;
  size_t records = 0;
};

const bytes& record() {
  static const auto block = make_record("x");
  return block;
}

const cid& record_id() {
  static const auto id = cid::of_dag_cbor(record());
  return id;
}

/// Walks the tree at `root` as a signed repository.
hostile_walk walk(const cid& root, std::vector<named_block> blocks) {
  const test_repo repo;
  const auto commit
    = encode_signed_commit({repo.did(), repo.rev(), root, {}, {}}, repo.key());
  blocks.emplace_back(record_id(), record());
  blocks.emplace_back(cid::of_dag_cbor(commit), commit);
  const auto store = make_memory_spool(100'000'000);
  const auto overflow = make_memory_spool(0);
  repo_walk in{repo.did(), *store, *overflow};
  EXPECT_TRUE(in.feed(make_car(blocks.back().first, blocks)));
  EXPECT_TRUE(in.finish(repo.key().public_part(), repo.now()));
  hostile_walk out;
  const auto done = in.step(1'000'000, [&](const walked_record&) {
    ++out.records;
  });
  if (!done) {
    out.code = done.error().code;
    out.fault = done.error().context;
  }
  return out;
}

hostile_walk walk(const tree_sketch& x) {
  std::vector<named_block> blocks;
  const auto root = x.encode(blocks);
  return walk(root, std::move(blocks));
}

constexpr int top_depth = 4;

/// Nodes with several entries at every depth, including bridges.
leaf_map leaves() {
  leaf_map out;
  const size_t sizes[top_depth + 1] = {60, 24, 12, 6, 3};
  for (int depth = 0; depth <= top_depth; ++depth)
    for (size_t i = 0; i < sizes[depth]; ++i)
      out.emplace(path_of_depth(depth, i), record_id());
  return out;
}

/// Changes each node in turn to which `applies` applies, and expects that the
/// tree is refused every time. Returns the number of depths at which there was
/// such a node.
size_t break_each(const std::function<bool(const tree_sketch&)>& applies,
                  const std::function<void(tree_sketch&)>& change) {
  std::set<int> depths;
  const auto count = sketch_of(leaves())->nodes().size();
  for (size_t i = 0; i < count; ++i) {
    const auto tree = sketch_of(leaves());
    auto* node = tree->nodes()[i];
    if (!applies(*node))
      continue;
    change(*node);
    const auto out = walk(*tree);
    EXPECT_NE(out.code, ec::none) << "depth " << node->depth;
    EXPECT_TRUE(out.code == ec::malformed
                || out.code == ec::verification_failed)
      << out.fault;
    depths.insert(node->depth);
  }
  return depths.size();
}

/// The same for a change of the encoded node.
size_t edit_each(const std::function<bool(const tree_sketch&)>& applies,
                 const std::function<void(raw_node&)>& edit) {
  return break_each(applies, [&](tree_sketch& x) {
    x.edit = edit;
  });
}

bool has_two_entries(const tree_sketch& x) {
  return x.entries.size() >= 2;
}

bool has_an_entry(const tree_sketch& x) {
  return !x.entries.empty();
}

bool has_two_children(const tree_sketch& x) {
  return x.left && !x.entries.empty() && x.entries.back().right;
}

} // namespace

TEST(HostileRepoTest, TheTreeToBreakIsSound) {
  const auto out = walk(*sketch_of(leaves()));
  EXPECT_EQ(out.fault, "");
  EXPECT_EQ(out.records, leaves().size());
}

// protocol-coverage.md 5.1.2
TEST(HostileRepoTest, PrefixesAreTheLongestAndNotLonger) {
  EXPECT_EQ(edit_each(has_two_entries,
                      [](raw_node& x) {
                        x.entries[1].prefix = 3;
                      }),
            5u);
  EXPECT_EQ(edit_each(has_two_entries,
                      [](raw_node& x) {
                        x.entries[1].prefix = 200;
                      }),
            5u);
  EXPECT_EQ(edit_each(has_an_entry,
                      [](raw_node& x) {
                        x.entries[0].prefix = 1;
                      }),
            5u);
}

// protocol-coverage.md 5.5, 5.1.4
TEST(HostileRepoTest, KeysGrowInsideANode) {
  EXPECT_EQ(edit_each(has_two_entries,
                      [](raw_node& x) {
                        std::swap(x.entries[0].key, x.entries[1].key);
                      }),
            5u);
  EXPECT_EQ(edit_each(has_two_entries,
                      [](raw_node& x) {
                        x.entries[1].key = x.entries[0].key;
                      }),
            5u);
}

// protocol-coverage.md 5.1.3, 10.9
TEST(HostileRepoTest, KeysAreNotEmptyAndNotTooLong) {
  EXPECT_EQ(edit_each(has_an_entry,
                      [](raw_node& x) {
                        x.entries[0].key.clear();
                      }),
            5u);
  EXPECT_EQ(edit_each(has_an_entry,
                      [](raw_node& x) {
                        x.entries.back().key.resize(1025, 'z');
                      }),
            5u);
}

// protocol-coverage.md 5.1.1
TEST(HostileRepoTest, KeysHaveTheDepthOfTheirNode) {
  EXPECT_EQ(break_each(
              [](const tree_sketch&) {
                return true;
              },
              [](tree_sketch& x) {
                // A key of the next depth, in order.
                const auto low = x.entries.empty() ? "" : x.entries.back().key;
                for (size_t i = 0;; ++i) {
                  auto key = path_of_depth(x.depth + 1, i);
                  if (key > low) {
                    x.entries.push_back({key, record_id(), nullptr});
                    return;
                  }
                }
              }),
            5u);
}

// protocol-coverage.md 5.1.7
TEST(HostileRepoTest, NodesAreLinkedAsDagCborOnly) {
  EXPECT_EQ(edit_each(
              [](const tree_sketch& x) {
                return x.left != nullptr;
              },
              [](raw_node& x) {
                digest hash;
                std::copy_n(x.left.hash_data(), 32, hash.begin());
                x.left = cid{cid::codec_raw, hash};
              }),
            4u);
}

// protocol-coverage.md 5.5, 5.1.4
TEST(HostileRepoTest, SubtreesLieBetweenTheirNeighbours) {
  EXPECT_EQ(break_each(has_two_children,
                       [](tree_sketch& x) {
                         std::swap(x.left, x.entries.back().right);
                       }),
            4u);
}

// protocol-coverage.md 5.1.4
TEST(HostileRepoTest, SubtreesHangOneLevelBelow) {
  // One bridge too many and one too few.
  EXPECT_EQ(break_each(
              [](const tree_sketch& x) {
                return x.left != nullptr;
              },
              [](tree_sketch& x) {
                auto bridge = std::make_unique<tree_sketch>();
                bridge->left = std::move(x.left);
                x.left = std::move(bridge);
              }),
            4u);
  EXPECT_GE(break_each(
              [](const tree_sketch& x) {
                return x.left && x.left->entries.empty();
              },
              [](tree_sketch& x) {
                auto below = std::move(x.left->left);
                x.left = std::move(below);
              }),
            1u);
}

// protocol-coverage.md 5.1.5
TEST(HostileRepoTest, NoNodeBelowTheRootIsEmpty) {
  const auto empty_child = [](tree_sketch& x) {
    auto& last = x.entries.empty() ? x.left : x.entries.back().right;
    last = std::make_unique<tree_sketch>();
  };
  EXPECT_EQ(break_each(has_an_entry, empty_child), 5u);
}

// protocol-coverage.md 5.1.6
TEST(HostileRepoTest, TheRootDoesNotOnlyPointDown) {
  tree_sketch bridge;
  bridge.left = sketch_of(leaves());
  EXPECT_EQ(walk(bridge).code, ec::malformed);
  tree_sketch two;
  two.left = std::make_unique<tree_sketch>();
  two.left->left = sketch_of(leaves());
  EXPECT_EQ(walk(two).code, ec::malformed);
}

TEST(HostileRepoTest, NodesAreOfOneForm) {
  const auto break_bytes = [](const std::function<void(bytes&)>& edit) {
    std::vector<named_block> blocks;
    sketch_of(leaves())->encode(blocks);
    auto& root = blocks.back();
    edit(root.second);
    root.first = cid::of_dag_cbor(root.second);
    return walk(root.first, blocks).code;
  };
  EXPECT_EQ(break_bytes([](bytes&) {}), ec::none);
  EXPECT_EQ(break_bytes([](bytes& x) {
              x.push_back(0);
            }),
            ec::malformed);
  EXPECT_EQ(break_bytes([](bytes& x) {
              x.pop_back();
            }),
            ec::malformed);
  EXPECT_EQ(break_bytes([](bytes& x) {
              x.clear();
            }),
            ec::malformed);
  EXPECT_EQ(break_bytes([](bytes& x) {
              // The count of entries in two bytes instead of one.
              const auto count = static_cast<uint8_t>(x[3] & 0x1f);
              x[3] = 0x98;
              x.insert(x.begin() + 4, count);
            }),
            ec::malformed);
}

// -- bombs --------------------------------------------------------------------

// protocol-coverage.md 5.1.8
TEST(HostileRepoTest, ADagBombFailsAtItsSecondVisit) {
  // 65 nodes, each with the next one on both sides of its key: a walk that only
  // follows links makes 2^65 visits.
  std::vector<named_block> blocks;
  cid below;
  for (int i = 0; i < 65; ++i) {
    raw_node node{below, {{path_of_depth(i % 5, 0), record_id(), below}}};
    auto block = encode_raw(node);
    below = cid::of_dag_cbor(block);
    blocks.emplace_back(below, std::move(block));
  }
  const auto out = walk(below, blocks);
  EXPECT_NE(out.code, ec::none);
  EXPECT_LE(out.records, 65u);
}

TEST(HostileRepoTest, ASoundLookingDagBombFailsAtItsSecondVisit) {
  // Every key has its node's depth, as deep as keys can be found.
  std::vector<named_block> blocks;
  cid below;
  for (int depth = 0; depth <= 6; ++depth) {
    raw_node node{below, {{path_of_depth(depth, 0), record_id(), below}}};
    auto block = encode_raw(node);
    below = cid::of_dag_cbor(block);
    blocks.emplace_back(below, std::move(block));
  }
  const auto out = walk(below, blocks);
  EXPECT_EQ(out.code, ec::malformed);
  EXPECT_LE(out.records, 7u);
}

// protocol-coverage.md 5.1.8
TEST(HostileRepoTest, BridgesMayNotBePassedTwice) {
  // One chain of bridges on both sides of the root's key: only at its end a key
  // shows on which side it is.
  std::vector<named_block> blocks;
  const auto high = path_of_depth(4, 0);
  size_t n = 0;
  while (path_of_depth(0, n) > high)
    ++n;
  auto block = encode_raw({{}, {{path_of_depth(0, n), record_id(), {}}}});
  auto below = cid::of_dag_cbor(block);
  blocks.emplace_back(below, std::move(block));
  for (int depth = 1; depth < 4; ++depth) {
    block = encode_raw({below, {}});
    below = cid::of_dag_cbor(block);
    blocks.emplace_back(below, std::move(block));
  }
  block = encode_raw({below, {{high, record_id(), below}}});
  const auto root = cid::of_dag_cbor(block);
  blocks.emplace_back(root, std::move(block));
  const auto out = walk(root, blocks);
  EXPECT_EQ(out.code, ec::verification_failed);
  EXPECT_EQ(out.records, 2u);
}

// protocol-coverage.md 5.7, 5.1.6, 5.1.8
TEST(HostileRepoTest, AChainOfBridgesEndsAtDepthZero) {
  std::vector<named_block> blocks;
  auto block = encode_raw({{}, {{path_of_depth(0, 0), record_id(), {}}}});
  auto below = cid::of_dag_cbor(block);
  blocks.emplace_back(below, std::move(block));
  for (int i = 0; i < 1000; ++i) {
    block = encode_raw({below, {}});
    below = cid::of_dag_cbor(block);
    blocks.emplace_back(below, std::move(block));
  }
  // After the greatest key, so that the chain is in order.
  std::string last;
  for (size_t i = 0; last < path_of_depth(0, 0); ++i)
    last = path_of_depth(3, i);
  block = encode_raw({below, {{last, record_id(), {}}}});
  below = cid::of_dag_cbor(block);
  blocks.emplace_back(below, std::move(block));
  const auto out = walk(below, blocks);
  EXPECT_EQ(out.code, ec::malformed);
  EXPECT_EQ(out.records, 0u);
}

} // namespace weir::tests
