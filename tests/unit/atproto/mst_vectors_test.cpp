#include "atproto/mst.hpp"
#include "atproto/mst_node.hpp"
#include "json_vectors.hpp"

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include <map>
#include <unordered_set>
#include <unordered_map>

// Proves protocol-coverage.md 2.4 and 5.1 with what the protocol's
// implementations agreed on.

namespace weir::tests {

using namespace atproto;

namespace json = boost::json;

namespace {

using tree_map = std::map<std::string, cid, std::less<>>;
using block_map = std::unordered_map<cid, bytes>;

/// The root of the tree over `x`, whose nodes are added to `blocks`.
cid build(const tree_map& x, block_map& blocks) {
  std::vector<mst::leaf> leaves;
  for (const auto& [key, value] : x)
    leaves.push_back({key, value});
  return mst::root_of(leaves, [&](const cid& id, bytes_view block) {
    blocks[id].assign(block.begin(), block.end());
  });
}

/// One case of commit-proof-fixtures.json.
struct proof_case {
  explicit proof_case(const json::value& x)
    : comment(text(x.at("comment"))), leaf(to_cid(x.at("leafValue"))),
      root_before(to_cid(x.at("rootBeforeCommit"))),
      root_after(to_cid(x.at("rootAfterCommit"))) {
    for (const auto& key : x.at("keys").as_array())
      before.emplace(text(key), leaf);
    after = before;
    for (const auto& key : x.at("adds").as_array())
      after.emplace(text(key), leaf);
    for (const auto& key : x.at("dels").as_array())
      after.erase(std::string{text(key)});
    for (const auto& id : x.at("blocksInProof").as_array())
      in_proof.insert(to_cid(id));
  }

  /// The ops that lead from `from` to `to`. The fixtures' keys are not repo
  /// paths, so they are undone on a tree instead of with `check_inversion`.
  static result<cid> move(mst::tree& tree, const tree_map& from,
                          const tree_map& to) {
    for (const auto& [key, value] : to)
      if (!from.contains(key))
        if (auto put = tree.put(key, value); !put)
          return put;
    for (const auto& [key, value] : from)
      if (!to.contains(key))
        if (auto removed = tree.remove(key); !removed)
          return removed;
    return tree.root();
  }

  std::string comment;
  cid leaf;
  cid root_before;
  cid root_after;
  tree_map before;
  tree_map after;
  std::unordered_set<cid> in_proof;
};

std::vector<proof_case> read_proofs(const std::filesystem::path& path) {
  const auto cases = read_json(path);
  std::vector<proof_case> out;
  for (const auto& x : cases.as_array())
    out.emplace_back(x);
  return out;
}

class MstVectorsTest : public testing::Test {
protected:
  /// A source of all blocks, or only of those in `some`.
  mst::block_source source(const std::unordered_set<cid>* some = nullptr) {
    return [this, some](const cid& id) -> const bytes_view* {
      const auto at = blocks.find(id);
      if (at == blocks.end() || (some != nullptr && !some->contains(id)))
        return nullptr;
      return &views.insert_or_assign(id, bytes_view{at->second}).first->second;
    };
  }

  block_map blocks;
  std::unordered_map<cid, bytes_view> views;
};

} // namespace

// protocol-coverage.md 5.1.1
TEST_F(MstVectorsTest, KeyDepthsAreTheAgreedOnes) {
  WEIR_VECTORS(path, "vectors/atproto-interop-tests/mst/key_heights.json");
  const auto cases = read_json(path);
  for (const auto& x : cases.as_array())
    EXPECT_EQ(mst::key_depth(text(x.at("key"))),
              x.at("height").to_number<int>())
      << x;
  EXPECT_EQ(cases.as_array().size(), 9u);
}

// protocol-coverage.md 5.1.2
TEST_F(MstVectorsTest, SharedPrefixesAreTheAgreedOnes) {
  WEIR_VECTORS(path, "vectors/atproto-interop-tests/mst/common_prefix.json");
  const auto cases = read_json(path);
  for (const auto& x : cases.as_array())
    EXPECT_EQ(mst::shared_prefix(text(x.at("left")), text(x.at("right"))),
              x.at("len").to_number<size_t>())
      << x;
  EXPECT_EQ(cases.as_array().size(), 13u);
}

TEST_F(MstVectorsTest, ExampleKeysMakeOneTreeInAnyOrder) {
  WEIR_VECTORS(path, "vectors/atproto-interop-tests/mst/example_keys.txt");
  const auto keys = read_vector_lines(path);
  EXPECT_EQ(keys.size(), 156u);
  tree_map all;
  mst::tree forwards;
  mst::tree backwards;
  for (size_t i = 0; i < keys.size(); ++i) {
    const auto id = cid::of_dag_cbor(as_bytes(keys[i]));
    all.emplace(keys[i], id);
    ASSERT_TRUE(forwards.put(keys[i], id));
    const auto& last = keys[keys.size() - 1 - i];
    ASSERT_TRUE(backwards.put(last, cid::of_dag_cbor(as_bytes(last))));
  }
  const auto root = build(all, blocks);
  EXPECT_EQ(forwards.root().value(), root);
  EXPECT_EQ(backwards.root().value(), root);
}

// protocol-coverage.md 2.4.9
TEST_F(MstVectorsTest, ProofCasesHaveTheAgreedRoots) {
  WEIR_VECTORS(
    path, "vectors/atproto-interop-tests/firehose/commit-proof-fixtures.json");
  const auto cases = read_proofs(path);
  EXPECT_EQ(cases.size(), 6u);
  for (const auto& x : cases) {
    EXPECT_EQ(build(x.before, blocks), x.root_before) << x.comment;
    EXPECT_EQ(build(x.after, blocks), x.root_after) << x.comment;
  }
}

// protocol-coverage.md 2.4.9
TEST_F(MstVectorsTest, ProofCasesLeadForwardFromTheWholeTree) {
  WEIR_VECTORS(
    path, "vectors/atproto-interop-tests/firehose/commit-proof-fixtures.json");
  for (const auto& x : read_proofs(path)) {
    build(x.before, blocks);
    auto tree = mst::tree::load(x.root_before, source()).value();
    const auto root = proof_case::move(tree, x.before, x.after);
    ASSERT_TRUE(root) << x.comment << ": " << to_string(root.error());
    EXPECT_EQ(*root, x.root_after) << x.comment;
  }
}

// protocol-coverage.md 2.4.9
TEST_F(MstVectorsTest, ProofCasesLeadBackFromTheBlocksInTheProofAlone) {
  WEIR_VECTORS(
    path, "vectors/atproto-interop-tests/firehose/commit-proof-fixtures.json");
  for (const auto& x : read_proofs(path)) {
    build(x.after, blocks);
    auto tree = mst::tree::load(x.root_after, source(&x.in_proof)).value();
    const auto root = proof_case::move(tree, x.after, x.before);
    ASSERT_TRUE(root) << x.comment << ": " << to_string(root.error());
    EXPECT_EQ(*root, x.root_before) << x.comment;
    const auto again = proof_case::move(tree, x.before, x.after);
    ASSERT_TRUE(again) << x.comment << ": " << to_string(again.error());
    EXPECT_EQ(*again, x.root_after) << x.comment;
  }
}

// protocol-coverage.md 2.4.2
TEST_F(MstVectorsTest, ProofCasesNeedEveryChangedBlockOfTheProof) {
  WEIR_VECTORS(
    path, "vectors/atproto-interop-tests/firehose/commit-proof-fixtures.json");
  for (const auto& x : read_proofs(path)) {
    build(x.after, blocks);
    auto without_root = x.in_proof;
    ASSERT_EQ(without_root.erase(x.root_after), 1u) << x.comment;
    const auto tree = mst::tree::load(x.root_after, source(&without_root));
    ASSERT_FALSE(tree);
    EXPECT_EQ(tree.error().code, ec::unverifiable);
  }
}

} // namespace weir::tests
