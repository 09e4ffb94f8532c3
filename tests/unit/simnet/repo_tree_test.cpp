#include "atproto/mst.hpp"
#include "base/random.hpp"
#include "simnet/repo_tree.hpp"

#include <gtest/gtest.h>

#include <map>
#include <unordered_set>
#include <unordered_map>

namespace weir::tests {

namespace {

using simnet::record;
using simnet::repo_tree;

record make_record(uint64_t x) {
  bytes block{0x18, static_cast<uint8_t>(x), static_cast<uint8_t>(x >> 8)};
  auto id = atproto::cid::of_dag_cbor(block);
  return {std::move(id), std::move(block)};
}

std::string make_path(uint64_t x) {
  return "com.example.thing/" + std::to_string(x);
}

using model = std::map<std::string, atproto::cid>;

atproto::cid root_of(const model& x) {
  atproto::mst::builder out;
  for (const auto& [path, id] : x)
    out.add(path, id);
  return out.finish();
}

model contents(const repo_tree& x) {
  model out;
  x.visit({}, [&out](const std::string& path, const record& item) {
    out.emplace(path, item.id);
    return true;
  });
  return out;
}

} // namespace

TEST(RepoTreeTest, AnEmptyTreeHasTheEmptyRootAndItsBlock) {
  repo_tree x;
  EXPECT_EQ(x.root(), atproto::mst::empty_root());
  ASSERT_EQ(x.blocks().size(), 1u);
  EXPECT_EQ(atproto::cid::of_dag_cbor(x.blocks().front().data), x.root());
}

// protocol-coverage.md 5.1: the shape depends only on the contents.
TEST(RepoTreeTest, AnyHistoryEndsInTheTreeThatItsContentsBuild) {
  const auto random = seeded_random(1);
  repo_tree x;
  model expected;
  for (int i = 0; i < 4000; ++i) {
    const auto path = make_path(random->below(400));
    const auto before
      = expected.find(path) == expected.end() ? atproto::cid{} : expected[path];
    // It grows first and shrinks to nothing later.
    if (random->below(4000) > static_cast<uint64_t>(i)) {
      auto item = make_record(random->below(60'000));
      expected[path] = item.id;
      ASSERT_EQ(x.put(path, std::move(item)), before);
    } else {
      expected.erase(path);
      ASSERT_EQ(x.remove(path), before);
    }
    if (i % 7 == 0) {
      ASSERT_EQ(x.root(), root_of(expected)) << "after step " << i;
    }
  }
  x.root();
  EXPECT_EQ(contents(x), expected);
  EXPECT_EQ(x.size(), expected.size());
}

TEST(RepoTreeTest, RecordsAreFoundByPathAndByNumber) {
  repo_tree x;
  model expected;
  for (uint64_t i = 0; i < 500; ++i) {
    auto item = make_record(i);
    expected[make_path(i)] = item.id;
    x.put(make_path(i), std::move(item));
  }
  x.root();
  size_t index = 0;
  for (const auto& [path, id] : expected) {
    EXPECT_EQ(x.path_at(index++), path);
    ASSERT_NE(x.find(path), nullptr);
    EXPECT_EQ(x.find(path)->id, id);
  }
  EXPECT_EQ(x.find("com.example.thing/none"), nullptr);
}

TEST(RepoTreeTest, VisitingGoesOnAfterAnyText) {
  repo_tree x;
  model expected;
  for (uint64_t i = 0; i < 300; ++i) {
    auto item = make_record(i);
    expected[make_path(i)] = item.id;
    x.put(make_path(i), std::move(item));
  }
  x.root();
  for (const auto* after : {"", "com.example.thing/", "com.example.thing/25",
                            "com.example.thing/2505", "zzz"}) {
    std::vector<std::string> seen;
    x.visit(after, [&seen](const std::string& path, const record&) {
      seen.push_back(path);
      return seen.size() < 40;
    });
    std::vector<std::string> wanted;
    for (auto at = expected.upper_bound(after);
         at != expected.end() && wanted.size() < 40; ++at)
      wanted.push_back(at->first);
    EXPECT_EQ(seen, wanted) << after;
  }
}

TEST(RepoTreeTest, BlocksAreTheWholeTreeAndHashToTheirNames) {
  repo_tree x;
  for (uint64_t i = 0; i < 300; ++i)
    x.put(make_path(i), make_record(i));
  x.root();
  size_t records = 0;
  std::unordered_set<atproto::cid> names;
  for (const auto& block : x.blocks()) {
    EXPECT_EQ(atproto::cid::of_dag_cbor(block.data), *block.id);
    records += block.data[0] == 0x18;
    names.insert(*block.id);
  }
  EXPECT_EQ(records, 300u);
  EXPECT_TRUE(names.contains(x.root()));
}

// protocol-coverage.md 2.4: the nodes of a proof are enough to look the path
// up.
TEST(RepoTreeTest, AProofIsEnoughToLookThePathUpAndNamesEachNodeOnce) {
  repo_tree x;
  for (uint64_t i = 0; i < 2000; ++i)
    x.put(make_path(i), make_record(i));
  const auto root = x.root();
  for (const uint64_t wanted : {0u, 77u, 1999u, 5000u, 999'999u}) {
    const auto path = make_path(wanted);
    const std::string_view paths[]{path};
    std::unordered_map<atproto::cid, bytes_view> blocks;
    for (const auto& block : x.proof(paths))
      EXPECT_TRUE(blocks.emplace(*block.id, block.data).second);
    auto tree = atproto::mst::tree::load(
      root, [&blocks](const atproto::cid& id) -> const bytes_view* {
        const auto at = blocks.find(id);
        return at == blocks.end() ? nullptr : &at->second;
      });
    ASSERT_TRUE(tree) << to_string(tree.error());
    // Neither changes a node: both only return the former value.
    const auto value = wanted < 2000 ? tree->put(path, root) : tree->remove(path);
    ASSERT_TRUE(value) << to_string(value.error());
    EXPECT_EQ(value->defined(), wanted < 2000);
    EXPECT_LT(blocks.size(), 24u);
  }
}

} // namespace weir::tests
