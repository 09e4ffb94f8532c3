#include "atproto/car.hpp"
#include "atproto/dag_cbor.hpp"
#include "atproto/limits.hpp"
#include "atproto/mst_node.hpp"
#include "atproto/repo_walk.hpp"
#include "tests/support/hostile_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_map>
#include <memory>

// Proves protocol-coverage.md 5.1 for single nodes, and that a walk ends when
// nodes lead back to themselves.

namespace weir::tests {

using namespace atproto;

namespace {

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

ec node_error(bytes_view block) {
  const auto out = decode_node(block);
  return out ? ec::none : out.error().code;
}

ec node_error(const raw_node& x) {
  return node_error(encode_raw(x));
}

} // namespace

// protocol-coverage.md 5.1.1
TEST(MstNodeTest, KeyDepthIsHalfTheLeadingZeroBits) {
  EXPECT_EQ(mst::key_depth("2653ae71"), 0);
  EXPECT_EQ(mst::key_depth("blue"), 1);
  EXPECT_EQ(mst::key_depth("app.bsky.feed.post/9adeb165882c"), 8);
}

// protocol-coverage.md 2.4.7
TEST(MstNodeTest, TheEmptyTreeIsTheAgreedNode) {
  EXPECT_EQ(mst::empty_root().to_text(),
            "bafyreie5737gdxlw5i64vzichcalba3z2v5n6icifvx5xytvske7mr3hpm");
  EXPECT_EQ(encode_node({}),
            (bytes{0xa2, 0x61, 0x65, 0x80, 0x61, 0x6c, 0xf6}));
}

// protocol-coverage.md 6.10
TEST(MstNodeTest, WhatIsEncodedDecodesToTheSame) {
  for (const size_t size : {0, 1, 2, 23, 24, 255, 256, 300}) {
    raw_node x;
    x.left = make_cid("left");
    for (const auto& key : flat_keys(size))
      x.entries.push_back(
        {key, make_cid(key), key.back() < '5' ? make_cid("right") : cid{}});
    const auto block = encode_node(x);
    const auto again = decode_node(block);
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(again->left, x.left);
    ASSERT_EQ(again->entries.size(), size);
    for (size_t i = 0; i < size; ++i) {
      EXPECT_EQ(again->entries[i].key, x.entries[i].key);
      EXPECT_EQ(again->entries[i].value, x.entries[i].value);
      EXPECT_EQ(again->entries[i].right, x.entries[i].right);
    }
    EXPECT_EQ(encode_node(*again), block);
    EXPECT_TRUE(cbor::validate(block));
  }
}

// protocol-coverage.md 5.1.7
TEST(MstNodeTest, KeepsRecordLinksOfOtherForms) {
  // CIDv1, raw, identity multihash, and one longer than the blessed form.
  auto odd = bytes{0x01, 0x55, 0x00, 0x01, 0x61};
  auto wide = bytes{0x01, 0x71, 0x13, 0x40};
  wide.resize(wide.size() + 64, 7);
  for (const auto& binary : {odd, wide}) {
    auto x = flat_node(3);
    x.entries[1].value = cid::from_bytes(binary).value();
    const auto block = encode_raw(x);
    const auto node = decode_node(block);
    ASSERT_TRUE(node) << to_string(node.error());
    EXPECT_EQ(node->entries[1].value, x.entries[1].value);
    EXPECT_EQ(encode_node(*node), block);
  }
}

// protocol-coverage.md 5.1.2
TEST(MstNodeTest, RefusesEveryBrokenRuleInsideANode) {
  EXPECT_EQ(node_error(flat_node(5)), ec::none);
  const auto broken = [](const std::function<void(raw_node&)>& edit) {
    auto x = flat_node(5);
    edit(x);
    return node_error(x);
  };
  using entries = std::vector<raw_entry>&;
  EXPECT_EQ(broken([](raw_node& x) {
              --x.entries[2].prefix.emplace(
                mst::shared_prefix(x.entries[1].key, x.entries[2].key));
            }),
            ec::malformed)
    << "not the longest prefix";
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries[0].prefix = 1;
            }),
            ec::malformed)
    << "prefix in the first entry";
  for (const uint64_t prefix :
       {uint64_t{30}, uint64_t{1} << 32, static_cast<uint64_t>(INT64_MAX)})
    EXPECT_EQ(broken([&](raw_node& x) {
                x.entries[2].prefix = prefix;
              }),
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
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries[0].key.clear();
            }),
            ec::malformed)
    << "empty key";
  EXPECT_EQ(broken([](raw_node& x) {
              x.left = cid::of_raw({});
            }),
            ec::malformed)
    << "link to a raw block as node";
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries[1].right = cid::of_raw({});
            }),
            ec::malformed)
    << "link to a raw block as node";
  EXPECT_EQ(broken([](raw_node& x) {
              x.entries[1].value = {};
            }),
            ec::malformed)
    << "no record";
}

// protocol-coverage.md 5.1.0, 6.0
TEST(MstNodeTest, RefusesEveryOtherFormOfANode) {
  const auto good = encode_raw(flat_node(2));
  ASSERT_EQ(node_error(good), ec::none);
  // If any single byte is changed or dropped, the node is refused or has
  // another content: each content has one form.
  const auto try_form = [&](const bytes& form) {
    const auto node = decode_node(form);
    if (!node)
      return;
    EXPECT_EQ(encode_node(*node), form);
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
    EXPECT_NE(node_error(cut), ec::none) << i;
    EXPECT_NE(node_error(bytes_view{good}.first(i)), ec::none) << i;
  }
  auto longer = good;
  longer.push_back(0);
  EXPECT_EQ(node_error(longer), ec::malformed);

  const auto with_map = [](size_t size, auto fill) {
    cbor::writer out;
    out.begin_map(size);
    fill(out);
    return out.take();
  };
  EXPECT_EQ(node_error(with_map(1,
                                [](auto& x) {
                                  x.put_text("e").begin_array(0);
                                })),
            ec::malformed)
    << "l is required";
  EXPECT_EQ(node_error(with_map(
              3,
              [](auto& x) {
                x.put_text("e").begin_array(0).put_text("l").put_null();
                x.put_text("x").put_null();
              })),
            ec::malformed)
    << "the schema is closed";
  EXPECT_EQ(node_error(with_map(
              2,
              [](auto& x) {
                x.put_text("l").put_null().put_text("e").begin_array(0);
              })),
            ec::malformed)
    << "order of keys";
}

// protocol-coverage.md 0.5, 5.7
TEST(MstNodeTest, KeepsItsLimits) {
  auto full = flat_node(limits::mst_node_entries_max + 1);
  EXPECT_EQ(node_error(full), ec::limit_reached);
  full.entries.pop_back();
  EXPECT_EQ(node_error(full), ec::none);

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
  EXPECT_EQ(node_error(of_key(long_key(limits::mst_key_bytes_max))), ec::none);
  EXPECT_EQ(node_error(of_key(long_key(limits::mst_key_bytes_max + 1))),
            ec::malformed);
}

// protocol-coverage.md 5.7
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
  // The last key takes exactly the rest.
  const auto fill = [&](size_t size) {
    auto y = x;
    y.entries.push_back(make_entry(997, 300));
    const auto missing = size - encode_raw(y).size();
    y.entries.back() = make_entry(997, 300 + missing);
    return encode_raw(y);
  };
  const auto largest = fill(limits::mst_node_bytes_max);
  ASSERT_EQ(largest.size(), limits::mst_node_bytes_max);
  EXPECT_EQ(node_error(largest), ec::none);
  EXPECT_EQ(node_error(fill(limits::mst_node_bytes_max + 1)),
            ec::limit_reached);
}

// -- cycles -------------------------------------------------------------------

namespace {

/// Stores a CAR with correct hashes, and returns other blocks when it is read.
class lying_spool final : public spool {
public:
  result<void> append(bytes_view chunk) override {
    return truth_->append(chunk);
  }

  result<bytes_view> read(uint64_t offset, size_t size) override {
    ++reads;
    const auto section = truth_->read(offset, size);
    if (!section || size < cid::blessed_size)
      return section;
    const auto id = cid::from_bytes(section->first(cid::blessed_size));
    const auto lie = id ? lies.find(*id) : lies.end();
    if (lie == lies.end())
      return section;
    told_.assign(id->view().begin(), id->view().end());
    told_.insert(told_.end(), lie->second.begin(), lie->second.end());
    return bytes_view{told_};
  }

  std::unordered_map<cid, bytes> lies; ///< By the requested CID.
  size_t reads = 0;

private:
  const std::unique_ptr<spool> truth_ = make_memory_spool(1'000'000);
  bytes told_;
};

/// A signed repository: a root and the blocks "a" and "b".
struct cyclic_repo {
  explicit cyclic_repo(const raw_node& root) : root_block(encode_raw(root)) {
    blocks.emplace_back(cid::of_dag_cbor(root_block), root_block);
    const auto commit = encode_signed_commit(
      {repo.did(), repo.rev(), blocks.back().first, {}, {}}, repo.key());
    blocks.emplace_back(cid::of_dag_cbor(commit), commit);
  }

  /// How the visit ends when `spool` answers.
  std::string walk(lying_spool& spool) const {
    const auto overflow = make_memory_spool(0);
    repo_walk in{repo.did(), spool, *overflow};
    EXPECT_TRUE(in.feed(make_car(blocks.back().first, blocks)));
    EXPECT_TRUE(in.finish(repo.key().public_part(), repo.now()));
    const auto done = in.step(limits::repo_records_max, [](const auto&) {});
    return done ? "no error" : to_string(done.error());
  }

  const test_repo repo;
  const bytes root_block;
  std::vector<named_block> blocks{{make_cid("a"), {'a'}},
                                  {make_cid("b"), {'b'}}};
};

} // namespace

// hostile-inputs.md 2.1.16: the bytes that are read differ from those that were
// hashed.
TEST(MstNodeTest, NodesThatLeadBackEndTheWalk) {
  const auto a = make_cid("a");
  const auto b = make_cid("b");
  const auto walk_down = [&](const raw_node& root, const raw_node& below) {
    const cyclic_repo x{root};
    lying_spool spool;
    spool.lies = {{a, encode_raw(below)}, {b, encode_raw({a, {}})}};
    const auto out = x.walk(spool);
    EXPECT_LE(spool.reads, x.blocks.size() + 1);
    return out;
  };
  const raw_node low{a, {{path_of_depth(1, 0), a, {}}}};
  const raw_node high{a, {{path_of_depth(6, 0), a, {}}}};
  const raw_node after{{}, {{path_of_depth(6, 0), a, a}}};
  EXPECT_EQ(walk_down(low, low), "malformed: MST node below depth 0");
  EXPECT_EQ(walk_down(high, high),
            "verification_failed: the MST repeats its nodes");
  EXPECT_EQ(walk_down(high, {b, {}}),
            "verification_failed: the MST repeats its nodes");
  EXPECT_EQ(walk_down(after, after),
            "malformed: keys do not grow over the MST");
}

// The same in a CAR: a child's CID before its parent's block.
TEST(MstNodeTest, ACarCannotLeadBack) {
  cyclic_repo x{{make_cid("a"), {{path_of_depth(6, 0), make_cid("v"), {}}}}};
  x.blocks.front().second = x.root_block;
  const auto car = make_car(x.blocks.back().first, x.blocks);
  EXPECT_EQ(car_slice::parse(car).value().check_hashes().error().code,
            ec::verification_failed);
  lying_spool spool;
  const auto overflow = make_memory_spool(0);
  repo_walk in{x.repo.did(), spool, *overflow};
  EXPECT_EQ(in.feed(car).error().code, ec::verification_failed);
}

} // namespace weir::tests
