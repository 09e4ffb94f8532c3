#include "atproto/mst.hpp"
#include "base/random.hpp"
#include "tests/support/hostile_tree.hpp"

#include <gtest/gtest.h>

#include <unordered_set>
#include <unordered_map>

// Proves protocol-coverage.md 5.1 for trees that are built and changed.

namespace weir::tests {

using namespace atproto;

namespace {

leaf_map random_leaves(random_source& random, size_t n) {
  leaf_map out;
  while (out.size() < n) {
    auto key = "app.test.note/" + std::to_string(random.below(1'000'000));
    out.emplace(key, make_cid(key));
  }
  return out;
}

cid build(const leaf_map& x, const mst::block_sink& sink = {}) {
  std::vector<mst::leaf> leaves;
  for (const auto& [key, value] : x)
    leaves.push_back({key, value});
  return mst::root_of(leaves, sink);
}

/// Blocks that a tree is loaded from.
class block_store {
public:
  mst::block_sink sink() {
    return [this](const cid& id, bytes_view block) {
      blocks_[id].assign(block.begin(), block.end());
    };
  }

  mst::block_source source() {
    return [this](const cid& id) -> const bytes_view* {
      const auto at = blocks_.find(id);
      if (at == blocks_.end())
        return nullptr;
      view_ = at->second;
      return &view_;
    };
  }

  void add(const std::vector<named_block>& x) {
    blocks_.insert(x.begin(), x.end());
  }

  void erase(const cid& id) { blocks_.erase(id); }

  size_t size() const { return blocks_.size(); }

private:
  std::unordered_map<cid, bytes> blocks_;
  bytes_view view_;
};

} // namespace

// -- builder ------------------------------------------------------------------

TEST(MstBuilderTest, MakesSoundNodesChildrenFirst) {
  const auto random = seeded_random(3);
  const auto leaves = random_leaves(*random, 2000);
  block_store store;
  std::unordered_set<cid> made;
  size_t entries = 0;
  const auto root = build(leaves, [&](const cid& id, bytes_view block) {
    EXPECT_EQ(cid::of_dag_cbor(block), id);
    const auto node = decode_node(block);
    ASSERT_TRUE(node) << to_string(node.error());
    EXPECT_TRUE(!node->left.defined() || made.contains(node->left));
    for (const auto& x : node->entries)
      EXPECT_TRUE(!x.right.defined() || made.contains(x.right));
    entries += node->entries.size();
    made.insert(id);
  });
  EXPECT_EQ(entries, leaves.size());
  std::vector<named_block> sketched;
  EXPECT_EQ(sketch_of(leaves)->encode(sketched), root);
  EXPECT_EQ(sketched.size(), made.size());
}

// protocol-coverage.md 5.1.4
TEST(MstBuilderTest, BridgesLevelsWithoutKeys) {
  const leaf_map leaves{{path_of_depth(0, 0), make_cid("a")},
                        {path_of_depth(5, 0), make_cid("b")}};
  std::vector<bytes> blocks;
  build(leaves, [&](const cid&, bytes_view block) {
    blocks.emplace_back(block.begin(), block.end());
  });
  ASSERT_EQ(blocks.size(), 6u);
  for (size_t i = 1; i < 5; ++i) {
    const auto bridge = decode_node(blocks[i]).value();
    EXPECT_TRUE(bridge.entries.empty());
    EXPECT_EQ(bridge.left, cid::of_dag_cbor(blocks[i - 1]));
  }
}

TEST(MstBuilderTest, MayBeUsedAgainAfterFinishing) {
  mst::builder out;
  EXPECT_EQ(out.finish(), mst::empty_root());
  out.add("a.b.c/1", make_cid("1"));
  const auto root = out.finish();
  EXPECT_NE(root, mst::empty_root());
  EXPECT_EQ(out.finish(), mst::empty_root());
  out.add("a.b.c/1", make_cid("1"));
  EXPECT_EQ(out.finish(), root);
}

// -- trees --------------------------------------------------------------------

TEST(MstTreeTest, IsTheSameInWhateverOrderItGrows) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const auto random = seeded_random(seed);
    const auto leaves = random_leaves(*random, 1 + random->below(120));
    std::vector<std::pair<std::string, cid>> order{leaves.begin(),
                                                   leaves.end()};
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random->below(i + 1)]);
    mst::tree tree;
    for (const auto& [key, value] : order)
      ASSERT_FALSE(tree.put(key, value).value().defined());
    EXPECT_EQ(tree.root().value(), build(leaves)) << "seed " << seed;
  }
}

// protocol-coverage.md 2.4.7
TEST(MstTreeTest, FollowsAMapThroughRandomChanges) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto random = seeded_random(seed);
    leaf_map model;
    mst::tree tree;
    for (int i = 0; i < 300; ++i) {
      const auto key = "app.test.note/" + std::to_string(random->below(60));
      const auto old = model.find(key);
      const auto before = old == model.end() ? cid{} : old->second;
      if (random->below(2) == 0) {
        const auto value = make_cid(std::to_string(random->next()));
        ASSERT_EQ(tree.put(key, value).value(), before);
        model.insert_or_assign(key, value);
      } else {
        ASSERT_EQ(tree.remove(key).value(), before);
        model.erase(key);
      }
      ASSERT_EQ(tree.root().value(), build(model))
        << "seed " << seed << " step " << i;
    }
  }
}

// protocol-coverage.md 2.4.2
TEST(MstTreeTest, LoadsLazilyAndMakesOnlyChangedNodes) {
  const auto random = seeded_random(9);
  auto leaves = random_leaves(*random, 3000);
  block_store store;
  const auto root = build(leaves, store.sink());
  size_t loaded = 0;
  auto tree = mst::tree::load(root, [&, from = store.source()](const cid& id) {
                ++loaded;
                return from(id);
              }).value();
  EXPECT_EQ(loaded, 1u);
  size_t made = 0;
  EXPECT_EQ(tree
              .root([&](const cid&, bytes_view) {
                ++made;
              })
              .value(),
            root);
  EXPECT_EQ(made, 0u);
  const auto& [key, value] = *std::next(leaves.begin(), 1500);
  ASSERT_EQ(tree.put(key, make_cid("new")).value(), value);
  leaves[key] = make_cid("new");
  const auto changed = tree.root([&](const cid&, bytes_view) {
    ++made;
  });
  EXPECT_EQ(changed.value(), build(leaves));
  EXPECT_LE(loaded, 20u);
  EXPECT_LE(made, loaded);
}

TEST(MstTreeTest, WritesABlockForAnEmptiedTree) {
  mst::tree tree;
  size_t made = 0;
  const auto sink = [&](const cid& id, bytes_view block) {
    ++made;
    EXPECT_EQ(id, mst::empty_root());
    EXPECT_EQ(cid::of_dag_cbor(block), id);
  };
  EXPECT_EQ(tree.root(sink).value(), mst::empty_root());
  EXPECT_EQ(made, 0u) << "nothing changed";
  ASSERT_TRUE(tree.put("a.b.c/1", make_cid("1")));
  ASSERT_TRUE(tree.remove("a.b.c/1"));
  EXPECT_EQ(tree.root(sink).value(), mst::empty_root());
  EXPECT_EQ(made, 1u);
}

// protocol-coverage.md 5.1.5
TEST(MstTreeTest, LoadsTheEmptyTree) {
  block_store store;
  build({}, store.sink());
  auto tree = mst::tree::load(mst::empty_root(), store.source()).value();
  EXPECT_FALSE(tree.put("a.b.c/1", make_cid("1")).value().defined());
  EXPECT_EQ(tree.root().value(), build({{"a.b.c/1", make_cid("1")}}));
}

// protocol-coverage.md 2.4.7
TEST(MstTreeTest, DropsTopNodesThatOnlyPointDown) {
  const auto low = path_of_depth(0, 0);
  const auto high = path_of_depth(6, 0);
  mst::tree tree;
  ASSERT_TRUE(tree.put(low, make_cid("low")));
  const auto before = tree.root().value();
  ASSERT_TRUE(tree.put(high, make_cid("high")));
  ASSERT_NE(tree.root().value(), before);
  ASSERT_TRUE(tree.remove(high));
  EXPECT_EQ(tree.root().value(), before);
}

// protocol-coverage.md 2.4.6
TEST(MstTreeTest, StopsAtStubs) {
  const auto random = seeded_random(5);
  const auto leaves = random_leaves(*random, 200);
  block_store store;
  const auto root = build(leaves, store.sink());
  block_store only_root;
  const auto source = store.source();
  const auto* block = source(root);
  only_root.sink()(root, *block);
  size_t stubs = 0;
  for (const auto& [key, value] : leaves) {
    auto tree = mst::tree::load(root, only_root.source()).value();
    const auto found = tree.put(key, value);
    if (found) {
      EXPECT_EQ(*found, value);
      continue;
    }
    ++stubs;
    EXPECT_EQ(found.error().code, ec::unverifiable);
    EXPECT_EQ(tree.remove(key).error().code, ec::unverifiable);
    EXPECT_EQ(tree.root().error().code, ec::unverifiable) << "stays failed";
  }
  EXPECT_GT(stubs, 150u);
  EXPECT_EQ(mst::tree::load(make_cid("x"), store.source()).error().code,
            ec::unverifiable);
}

// protocol-coverage.md 5.1.6
TEST(MstTreeTest, RefusesARootThatOnlyPointsDown) {
  const leaf_map leaves{{"a.b.c/1", make_cid("1")}};
  block_store store;
  const auto root = build(leaves, store.sink());
  const auto bridge = encode_raw({root, {}});
  const auto id = cid::of_dag_cbor(bridge);
  store.sink()(id, bridge);
  EXPECT_EQ(mst::tree::load(id, store.source()).error().code, ec::malformed);
}

TEST(MstTreeTest, RefusesChildrenThatDoNotFitWhereTheyHang) {
  const auto low = path_of_depth(0, 3);
  const auto top = path_of_depth(2, 0);
  const auto value = make_cid("v");
  const auto try_child = [&](const raw_node& child, bool before) {
    block_store store;
    const auto add = [&](const raw_node& x) {
      const auto block = encode_raw(x);
      store.sink()(cid::of_dag_cbor(block), block);
      return cid::of_dag_cbor(block);
    };
    const auto id = add(child);
    const auto root
      = add({before ? id : cid{}, {{top, value, before ? cid{} : id}}});
    auto tree = mst::tree::load(root, store.source()).value();
    // Both neighbours of the key are read when it is removed.
    const auto removed = tree.remove(top);
    return removed ? ec::none : removed.error().code;
  };
  // A key of depth 1 on either side of the top key, and one of depth 0.
  std::string less;
  std::string greater;
  for (size_t i = 0; less.empty() || greater.empty(); ++i) {
    const auto key = path_of_depth(1, i);
    (key < top ? less : greater) = key;
  }
  EXPECT_EQ(try_child({{}, {{less, value, {}}}}, true), ec::none);
  EXPECT_EQ(try_child({{}, {{greater, value, {}}}}, false), ec::none);
  EXPECT_EQ(try_child({{}, {{greater, value, {}}}}, true), ec::malformed);
  EXPECT_EQ(try_child({{}, {{less, value, {}}}}, false), ec::malformed);
  EXPECT_EQ(try_child({{}, {{low, value, {}}}}, low < top), ec::malformed)
    << "a level is left out";
  EXPECT_EQ(try_child({}, true), ec::malformed) << "empty node";
}

// protocol-coverage.md 5.7
TEST(MstTreeTest, RefusesNodesBelowDepthZero) {
  const auto low = std::min(path_of_depth(0, 0), path_of_depth(0, 1));
  const auto high = std::max(path_of_depth(0, 0), path_of_depth(0, 1));
  block_store store;
  auto below = encode_raw({{}, {{high, make_cid("v"), {}}}});
  const auto child = cid::of_dag_cbor(below);
  store.sink()(child, below);
  const auto block = encode_raw({{}, {{low, make_cid("v"), child}}});
  const auto root = cid::of_dag_cbor(block);
  store.sink()(root, block);
  auto removed = mst::tree::load(root, store.source()).value();
  EXPECT_EQ(removed.remove(low).error().code, ec::malformed);
  auto split = mst::tree::load(root, store.source()).value();
  EXPECT_EQ(split.put(high, make_cid("w")).error().code, ec::malformed);
}

// protocol-coverage.md 5.1.1
TEST(MstTreeTest, RefusesKeysFoundAtADepthThatIsNotTheirOwn) {
  const auto top = path_of_depth(1, 0);
  for (const int depth : {0, 2}) {
    size_t n = 0; // After the root's first key, which has the root's depth.
    while (path_of_depth(depth, n) < top)
      ++n;
    const auto stray = path_of_depth(depth, n);
    block_store store;
    const auto block = encode_raw(
      {{}, {{top, make_cid("v"), {}}, {stray, make_cid("v"), {}}}});
    const auto root = cid::of_dag_cbor(block);
    store.sink()(root, block);
    const auto load = [&] {
      return mst::tree::load(root, store.source()).value();
    };
    auto put = load();
    EXPECT_EQ(put.put(stray, make_cid("w")).error().code, ec::malformed);
    if (depth > 1)
      continue; // Such a key is above everything in the tree.
    auto removed = load();
    EXPECT_EQ(removed.remove(stray).error().code, ec::malformed);
  }
}

// -- cycles -------------------------------------------------------------------

namespace {

/// A key above two CIDs. Their blocks are the block above or, as `bridges`,
/// nodes without keys that lead to each other.
struct cycle {
  explicit cycle(bool bridges) {
    const auto a = make_cid("a");
    const auto b = make_cid("b");
    const auto block = encode_raw({a, {{top, make_cid("v"), b}}});
    store.sink()(root, block);
    store.sink()(a, bridges ? encode_raw({b, {}}) : block);
    store.sink()(b, bridges ? encode_raw({a, {}}) : block);
  }

  mst::block_source source() {
    return [this, from = store.source()](const cid& id) {
      ++asked;
      return from(id);
    };
  }

  static constexpr int depth = 3;
  const std::string top = path_of_depth(depth, 0);
  const cid root = make_cid("root");
  block_store store;
  size_t asked = 0; ///< Number of requested blocks.
};

} // namespace

// hostile-inputs.md 2.1.16
TEST(MstTreeTest, ACycleEndsInAnErrorAtDepthZero) {
  for (const bool bridges : {false, true})
    for (size_t i = 0; i < 4; ++i) {
      cycle x{bridges};
      const auto key = path_of_depth(i == 1 ? cycle::depth + 1 : 0, i);
      auto tree = mst::tree::load(x.root, x.source()).value();
      const auto done
        = i == 0 ? tree.remove(x.top) : tree.put(key, make_cid("w"));
      EXPECT_EQ(done ? ec::none : done.error().code, ec::malformed) << i;
      // The root, and each depth once on both sides of the key.
      EXPECT_LE(x.asked, 1u + 2 * cycle::depth) << i;
      const commit_op op{op_action::update, key, make_cid("v"), make_cid("w")};
      const auto undone
        = mst::check_inversion(x.root, {}, {&op, 1}, x.source());
      EXPECT_EQ(undone ? ec::none : undone.error().code, ec::malformed) << i;
    }
}

} // namespace weir::tests
