#include "atproto/mst.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/mst_node.hpp"
#include "base/limits.hpp"
#include "base/random.hpp"
#include "hostile_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// Proves protocol.md 5.1 for single nodes, builders and mutable trees.

namespace weir::tests {

using namespace atproto;

namespace {

cid make_cid(std::string_view text) {
  return cid::of_dag_cbor(as_bytes(text));
}

/// Keys of depth 0, sorted.
std::vector<std::string> flat_keys(size_t n) {
  std::vector<std::string> out;
  for (size_t i = 0; i < n; ++i)
    out.push_back(path_of_depth(0, i));
  std::ranges::sort(out);
  return out;
}

raw_node flat_node(size_t n) {
  raw_node out;
  for (auto& key : flat_keys(n))
    out.entries.push_back({key, make_cid(key), {}});
  return out;
}

ec decode_error(bytes_view block) {
  const auto out = mst::decode_node(block);
  return out ? ec::none : out.error().code;
}

ec decode_error(const raw_node& x) {
  return decode_error(encode_raw(x));
}

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

  void erase(const cid& id) {
    blocks_.erase(id);
  }

  size_t size() const {
    return blocks_.size();
  }

private:
  std::map<cid, bytes> blocks_;
  bytes_view view_;
};

} // namespace

// -- keys and single nodes ----------------------------------------------------

TEST(MstNodeTest, KeyDepthIsHalfTheLeadingZeroBits) {
  EXPECT_EQ(mst::key_depth("2653ae71"), 0);
  EXPECT_EQ(mst::key_depth("blue"), 1);
  EXPECT_EQ(mst::key_depth("app.bsky.feed.post/9adeb165882c"), 8);
}

TEST(MstNodeTest, TheEmptyTreeIsTheAgreedNode) {
  EXPECT_EQ(mst::empty_root().to_text(),
            "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm");
  EXPECT_EQ(mst::encode_node({}),
            (bytes{0xa2, 0x61, 0x65, 0x80, 0x61, 0x6c, 0xf6}));
}

TEST(MstNodeTest, WhatIsEncodedDecodesToTheSame) {
  for (const size_t size : {0, 1, 2, 23, 24, 255, 256, 300}) {
    mst::node x;
    x.left = make_cid("left");
    for (const auto& key : flat_keys(size))
      x.entries.push_back(
        {key, make_cid(key), key.back() < '5' ? make_cid("right") : cid{}});
    const auto block = mst::encode_node(x);
    const auto again = mst::decode_node(block);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(again->left, x.left);
    ASSERT_EQ(again->entries.size(), size);
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(again->entries[i].key, x.entries[i].key);
      EXPECT_EQ(again->entries[i].value, x.entries[i].value);
      EXPECT_EQ(again->entries[i].right, x.entries[i].right);
    }
    EXPECT_EQ(mst::encode_node(*again), block);
    EXPECT_TRUE(cbor::validate(block));
  }
}

TEST(MstNodeTest, KeepsRecordLinksOfOtherForms) {
  // CIDv1, raw, identity multihash, and one longer than the blessed form.
  auto odd = bytes{0x01, 0x55, 0x00, 0x01, 0x61};
  auto wide = bytes{0x01, 0x71, 0x13, 0x40};
  wide.resize(wide.size() + 64, 7);
  for (const auto& binary : {odd, wide}) {
    auto x = flat_node(3);
    x.entries[1].value = cid::from_bytes(binary).value();
    const auto block = encode_raw(x);
    const auto node = mst::decode_node(block);
    ASSERT_TRUE(node) << to_string(node.error());
    EXPECT_EQ(node->entries[1].value, x.entries[1].value);
    EXPECT_EQ(mst::encode_node(*node), block);
  }
}

TEST(MstNodeTest, RefusesEveryBrokenRuleInsideANode) {
  EXPECT_EQ(decode_error(flat_node(5)), ec::none);
  const auto broken = [](const std::function<void(raw_node&)>& edit) {
    auto x = flat_node(5);
    edit(x);
    return decode_error(x);
  };
  using entries = std::vector<raw_entry>&;
  EXPECT_EQ(broken([](raw_node& x) { --x.entries[2].prefix.emplace(
                       mst::shared_prefix(x.entries[1].key,
                                          x.entries[2].key)); }),
            ec::malformed)
    << "not the longest prefix";
  EXPECT_EQ(broken([](raw_node& x) { x.entries[0].prefix = 1; }),
            ec::malformed)
    << "prefix in the first entry";
  for (const uint64_t prefix : {uint64_t{30}, uint64_t{1} << 32,
                                static_cast<uint64_t>(INT64_MAX)})
    EXPECT_EQ(broken([&](raw_node& x) { x.entries[2].prefix = prefix; }),
              ec::malformed)
      << "prefix longer than the key before";
  EXPECT_EQ(broken([](raw_node& x) {
              entries e = x.entries;
              std::swap(e[1], e[2]);
            }),
            ec::malformed)
    << "keys do not grow";
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries.insert(x.entries.begin(), x.entries[0]);
            }),
            ec::malformed)
    << "key twice";
  EXPECT_EQ(broken([](raw_node& x) { x.entries[0].key.clear(); }),
            ec::malformed)
    << "empty key";
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries.push_back({path_of_depth(1, 0), make_cid("x"), {}});
              std::ranges::sort(x.entries, {}, &raw_entry::key);
            }),
            ec::malformed)
    << "keys of two depths";
  EXPECT_EQ(broken([](raw_node& x) { x.left = cid::of_raw({}); }),
            ec::malformed)
    << "link to a raw block as node";
  EXPECT_EQ(broken([](raw_node& x) { x.entries[1].right = cid::of_raw({}); }),
            ec::malformed)
    << "link to a raw block as node";
  EXPECT_EQ(broken([](raw_node& x) { x.entries[1].value = {}; }),
            ec::malformed)
    << "no record";
}

TEST(MstNodeTest, RefusesEveryOtherFormOfANode) {
  const auto good = encode_raw(flat_node(2));
  ASSERT_EQ(decode_error(good), ec::none);
  // Whatever single byte is changed or dropped, the node is refused or says
  // something else: there is one form for each content.
  const auto try_form = [&](const bytes& form) {
    const auto node = mst::decode_node(form);
    if (!node)
      return;
    EXPECT_EQ(mst::encode_node(*node), form);
    EXPECT_TRUE(cbor::validate(form));
  };
  for (size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      auto changed = good;
      changed[i] ^= static_cast<uint8_t>(1 << bit);
      try_form(changed);
    }
    auto cut = good;
    cut.erase(cut.begin() + static_cast<ptrdiff_t>(i));
    EXPECT_NE(decode_error(cut), ec::none) << i;
    EXPECT_NE(decode_error(bytes_view{good}.first(i)), ec::none) << i;
  }
  auto longer = good;
  longer.push_back(0);
  EXPECT_EQ(decode_error(longer), ec::malformed);

  const auto with_map = [](size_t size, auto fill) {
    cbor::writer out;
    out.begin_map(size);
    fill(out);
    return out.take();
  };
  EXPECT_EQ(decode_error(with_map(1, [](auto& x) {
              x.put_text("e").begin_array(0);
            })),
            ec::malformed)
    << "l is required";
  EXPECT_EQ(decode_error(with_map(3, [](auto& x) {
              x.put_text("e").begin_array(0).put_text("l").put_null();
              x.put_text("x").put_null();
            })),
            ec::malformed)
    << "the schema is closed";
  EXPECT_EQ(decode_error(with_map(2, [](auto& x) {
              x.put_text("l").put_null().put_text("e").begin_array(0);
            })),
            ec::malformed)
    << "order of keys";
}

TEST(MstNodeTest, KeepsItsLimits) {
  auto full = flat_node(limits::mst_node_entries_max + 1);
  EXPECT_EQ(decode_error(full), ec::limit_reached);
  full.entries.pop_back();
  EXPECT_EQ(decode_error(full), ec::none);

  const auto long_key = [](size_t size) {
    for (size_t i = 0;; ++i) {
      auto key = "a.b.c/" + std::to_string(i);
      key.resize(size, 'x');
      if (mst::key_depth(key) == 0)
        return key;
    }
  };
  const auto of_key = [](const std::string& key) {
    return raw_node{{}, {{key, make_cid("x"), {}}}};
  };
  EXPECT_EQ(decode_error(of_key(long_key(limits::mst_key_bytes_max))),
            ec::none);
  EXPECT_EQ(decode_error(of_key(long_key(limits::mst_key_bytes_max + 1))),
            ec::malformed);
}

TEST(MstNodeTest, IsAtMostOneMebibyte) {
  const auto make_entry = [](size_t number, size_t size) {
    for (size_t i = 0;; ++i) {
      auto key = std::to_string(10'000 + number) + '/' + std::to_string(i);
      key.resize(size, 'x');
      if (mst::key_depth(key) == 0)
        return raw_entry{key, make_cid("v"), {}};
    }
  };
  raw_node x;
  for (size_t i = 0; i < 997; ++i)
    x.entries.push_back(make_entry(i, 1000));
  const auto bare = encode_raw(x).size();
  ASSERT_LT(bare, limits::mst_node_bytes_max);
  // The last key fills what is left, to the byte.
  const auto fill = [&](size_t size) {
    auto y = x;
    y.entries.push_back(make_entry(997, 300));
    const auto missing = size - encode_raw(y).size();
    y.entries.back() = make_entry(997, 300 + missing);
    return encode_raw(y);
  };
  const auto largest = fill(limits::mst_node_bytes_max);
  ASSERT_EQ(largest.size(), limits::mst_node_bytes_max);
  EXPECT_EQ(decode_error(largest), ec::none);
  EXPECT_EQ(decode_error(fill(limits::mst_node_bytes_max + 1)),
            ec::limit_reached);
}

// -- builder ------------------------------------------------------------------

TEST(MstBuilderTest, MakesSoundNodesChildrenFirst) {
  const auto random = seeded_random(3);
  const auto leaves = random_leaves(*random, 2000);
  block_store store;
  std::set<cid> made;
  size_t entries = 0;
  const auto root = build(leaves, [&](const cid& id, bytes_view block) {
    EXPECT_EQ(cid::of_dag_cbor(block), id);
    const auto node = mst::decode_node(block);
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

TEST(MstBuilderTest, BridgesLevelsWithoutKeys) {
  const leaf_map leaves{{path_of_depth(0, 0), make_cid("a")},
                        {path_of_depth(5, 0), make_cid("b")}};
  std::vector<bytes> blocks;
  build(leaves, [&](const cid&, bytes_view block) {
    blocks.emplace_back(block.begin(), block.end());
  });
  ASSERT_EQ(blocks.size(), 6u);
  for (size_t i = 1; i < 5; ++i) {
    const auto bridge = mst::decode_node(blocks[i]).value();
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
    std::vector<std::pair<std::string, cid>> order{leaves.begin(), leaves.end()};
    for (size_t i = order.size() - 1; i > 0; --i)
      std::swap(order[i], order[random->below(i + 1)]);
    mst::tree tree;
    for (const auto& [key, value] : order)
      ASSERT_FALSE(tree.put(key, value).value().defined());
    EXPECT_EQ(tree.root().value(), build(leaves)) << "seed " << seed;
  }
}

TEST(MstTreeTest, FollowsAMapThroughRandomChanges) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const auto random = seeded_random(seed);
    leaf_map model;
    mst::tree tree;
    for (int i = 0; i < 300; ++i) {
      const auto key = "app.test.note/" + std::to_string(random->below(60));
      const auto old = model.find(key);
      const auto before = old == model.end() ? cid{} : old->second;
      ASSERT_EQ(tree.get(key).value(), before);
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
  EXPECT_EQ(tree.root([&](const cid&, bytes_view) { ++made; }).value(), root);
  EXPECT_EQ(made, 0u);
  const auto& [key, value] = *std::next(leaves.begin(), 1500);
  ASSERT_EQ(tree.put(key, make_cid("new")).value(), value);
  leaves[key] = make_cid("new");
  const auto changed = tree.root([&](const cid&, bytes_view) { ++made; });
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

TEST(MstTreeTest, LoadsTheEmptyTree) {
  block_store store;
  build({}, store.sink());
  auto tree = mst::tree::load(mst::empty_root(), store.source()).value();
  EXPECT_FALSE(tree.get("a.b.c/1").value().defined());
  ASSERT_TRUE(tree.put("a.b.c/1", make_cid("1")));
  EXPECT_EQ(tree.root().value(), build({{"a.b.c/1", make_cid("1")}}));
}

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
    const auto found = tree.get(key);
    if (found) {
      EXPECT_EQ(*found, value);
      continue;
    }
    ++stubs;
    EXPECT_EQ(found.error().code, ec::unverifiable);
    const auto removed = tree.remove(key);
    ASSERT_FALSE(removed);
    EXPECT_EQ(removed.error().code, ec::unverifiable);
    EXPECT_EQ(tree.root().error().code, ec::unverifiable) << "stays failed";
  }
  EXPECT_GT(stubs, 150u);
  EXPECT_EQ(mst::tree::load(make_cid("x"), store.source()).error().code,
            ec::unverifiable);
}

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
    const auto root = add({before ? id : cid{},
                           {{top, value, before ? cid{} : id}}});
    auto tree = mst::tree::load(root, store.source()).value();
    // Both neighbours of the key are looked at when it goes.
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

} // namespace weir::tests
