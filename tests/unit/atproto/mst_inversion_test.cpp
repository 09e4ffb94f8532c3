#include "atproto/identifiers.hpp"
#include "atproto/mst.hpp"
#include "base/random.hpp"
#include "tests/support/hostile_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <unordered_map>

// Proves protocol-coverage.md 2.4.

namespace weir::tests {

using namespace atproto;

namespace {

/// Two states of a repo and the ops between them.
struct change {
  leaf_map before;
  leaf_map after;
  std::vector<owned_op> ops;

  std::vector<commit_op> borrow() const {
    std::vector<commit_op> out;
    for (const auto& x : ops)
      out.push_back({x.action, x.path, x.id, x.prev});
    return out;
  }
};

change make_change(leaf_map before, leaf_map after) {
  change out{std::move(before), std::move(after), {}};
  for (const auto& [path, id] : out.after) {
    const auto old = out.before.find(path);
    if (old == out.before.end())
      out.ops.push_back({op_action::create, path, id, {}});
    else if (old->second != id)
      out.ops.push_back({op_action::update, path, id, old->second});
  }
  for (const auto& [path, id] : out.before)
    if (!out.after.contains(path))
      out.ops.push_back({op_action::remove, path, {}, id});
  return out;
}

change random_change(random_source& random) {
  const auto path = [&] {
    return "app.test.note/" + std::to_string(random.below(400));
  };
  leaf_map before;
  for (auto n = random.below(200); n > 0; --n)
    before.emplace(path(), make_cid(std::to_string(random.next())));
  auto after = before;
  for (auto n = 1 + random.below(12); n > 0; --n) {
    const auto what = random.below(3);
    if (what != 0 || after.empty())
      after.insert_or_assign(path(), make_cid(std::to_string(random.next())));
    else
      after.erase(std::next(
        after.begin(), static_cast<ptrdiff_t>(random.below(after.size()))));
  }
  return make_change(std::move(before), std::move(after));
}

class MstInversionTest : public testing::Test {
protected:
  cid build(const leaf_map& x) {
    std::vector<mst::leaf> leaves;
    for (const auto& [key, value] : x)
      leaves.push_back({key, value});
    return mst::root_of(leaves, [this](const cid& id, bytes_view block) {
      blocks[id].assign(block.begin(), block.end());
    });
  }

  /// Checks `ops` with the blocks that are not hidden, and records the nodes
  /// that were read.
  ec check(const cid& data, const cid& prev_data,
           std::span<const commit_op> ops) {
    const auto done = mst::check_inversion(data, prev_data, ops, source());
    return done ? ec::none : done.error().code;
  }

  ec check(const change& x) {
    const auto data = build(x.after);
    const auto prev_data = build(x.before);
    const auto ops = x.borrow();
    return check(data, prev_data, ops);
  }

  /// Undoes the ops of one kind, by path, on a complete tree.
  void undo(mst::tree& tree, const change& x, bool deletes) {
    for (const auto& op : x.ops)
      if ((op.action == op_action::remove) == deletes) {
        const auto undone = op.action == op_action::create
                              ? tree.remove(op.path)
                              : tree.put(op.path, op.prev);
        ASSERT_TRUE(undone);
      }
  }

  /// The nodes that are read when the ops are undone in this order.
  std::unordered_set<cid> touched_by(const change& x, bool deletes_first) {
    touched.clear();
    auto tree = mst::tree::load(build(x.after), source()).value();
    undo(tree, x, deletes_first);
    undo(tree, x, !deletes_first);
    EXPECT_EQ(tree.root().value(), build(x.before));
    return std::exchange(touched, {});
  }

  mst::block_source source() {
    return [this](const cid& id) -> const bytes_view* {
      const auto at = blocks.find(id);
      if (at == blocks.end() || hidden.contains(id))
        return nullptr;
      touched.insert(id);
      view = at->second;
      return &view;
    };
  }

  std::unordered_map<cid, bytes> blocks;
  std::unordered_set<cid> hidden;
  std::unordered_set<cid> touched;
  bytes_view view;
};

/// A state with `n` records of every depth up to 3.
leaf_map some_leaves(size_t n) {
  leaf_map out;
  for (int depth = 0; depth <= 3; ++depth)
    for (size_t i = 0; i < n; ++i)
      out.emplace(path_of_depth(depth, i), make_cid("old"));
  return out;
}

} // namespace

// protocol-coverage.md 2.4.5
TEST_F(MstInversionTest, AcceptsEveryChangeThatHappened) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const auto random = seeded_random(seed);
    EXPECT_EQ(check(random_change(*random)), ec::none) << "seed " << seed;
  }
}

// protocol-coverage.md 2.4.5
TEST_F(MstInversionTest, DoesNotDependOnTheOrderOfTheOps) {
  const auto random = seeded_random(1);
  for (int i = 0; i < 20; ++i) {
    auto x = random_change(*random);
    std::ranges::reverse(x.ops);
    EXPECT_EQ(check(x), ec::none);
  }
}

// protocol-coverage.md 2.4.5: senders include the nodes that are read when
// deletes are undone first. Here both sides of a key are read in any case, so
// that other orders read no further nodes; this matters most where a record
// takes the place of its neighbour.
TEST_F(MstInversionTest, DeletesFirstNeedNoOtherNodesThanDeletesLast) {
  std::vector<change> changes;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto random = seeded_random(seed);
    changes.push_back(random_change(*random));
  }
  const auto before = some_leaves(20);
  for (const auto& [old, id] : before) {
    auto heir = old + 'a';
    while (mst::key_depth(heir) != mst::key_depth(old))
      heir.back() == 'z' ? heir.push_back('a') : void(++heir.back());
    auto after = before;
    after.erase(old);
    after.emplace(heir, make_cid("new"));
    changes.push_back(make_change(before, after));
  }
  for (const auto& x : changes) {
    const auto needed = touched_by(x, true);
    EXPECT_EQ(needed, touched_by(x, false));
    for (const auto& [node, block] : blocks)
      if (!needed.contains(node))
        hidden.insert(node);
    EXPECT_EQ(check(x), ec::none) << "by the nodes touched alone";
    hidden.clear();
    blocks.clear();
  }
}

TEST_F(MstInversionTest, AcceptsTheFirstAndTheLastRecord) {
  const auto path = path_of_depth(2, 0);
  EXPECT_EQ(check(make_change({}, {{path, make_cid("x")}})), ec::none);
  EXPECT_EQ(check(make_change({{path, make_cid("x")}}, {})), ec::none);
}

// protocol-coverage.md 2.4.8
TEST_F(MstInversionTest, AnEmptyCommitMovesNothing) {
  const auto root = build(some_leaves(3));
  EXPECT_EQ(check(root, root, {}), ec::none);
  EXPECT_EQ(check(root, build({}), {}), ec::verification_failed);
  EXPECT_TRUE(touched.empty()) << "no block is needed";
}

// protocol-coverage.md 2.4.8
TEST_F(MstInversionTest, RefusesAnyOtherStateBefore) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    const auto random = seeded_random(seed);
    const auto x = random_change(*random);
    auto other = x.before;
    other.emplace("app.test.note/other", make_cid("x"));
    const auto data = build(x.after);
    const auto ops = x.borrow();
    EXPECT_EQ(check(data, build(other), ops), ec::verification_failed);
  }
}

// protocol-coverage.md 2.4.3, 2.4.5
TEST_F(MstInversionTest, RefusesOpsThatTellMoreLessOrOtherwise) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const auto random = seeded_random(seed);
    const auto x = random_change(*random);
    if (x.ops.empty())
      continue;
    const auto data = build(x.after);
    const auto prev_data = build(x.before);
    const auto good = x.borrow();
    ASSERT_EQ(check(data, prev_data, good), ec::none);
    const auto which = random->below(good.size());

    auto less = good;
    less.erase(less.begin() + static_cast<ptrdiff_t>(which));
    EXPECT_EQ(check(data, prev_data, less), ec::verification_failed);

    auto more = good;
    more.push_back(
      {op_action::create, "app.test.note/more", make_cid("m"), {}});
    EXPECT_EQ(check(data, prev_data, more), ec::verification_failed);
    more.back() = {op_action::remove, "app.test.note/more", {}, make_cid("m")};
    EXPECT_EQ(check(data, prev_data, more), ec::verification_failed);

    auto otherwise = good;
    auto& op = otherwise[which];
    if (op.action == op_action::remove)
      op.prev = make_cid("another");
    else
      op.id = make_cid("another");
    EXPECT_EQ(check(data, prev_data, otherwise), ec::verification_failed);
  }
}

// protocol-coverage.md 2.4.3
TEST_F(MstInversionTest, RefusesADeleteOfWhatIsStillThere) {
  const auto leaves = some_leaves(4);
  const auto root = build(leaves);
  for (const auto& [path, id] : leaves) {
    const std::vector<commit_op> ops{{op_action::remove, path, {}, id}};
    EXPECT_EQ(check(root, root, ops), ec::verification_failed);
  }
}

// protocol-coverage.md 2.2.5, 2.4.6
TEST_F(MstInversionTest, NeedsEveryBlockItTouches) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    const auto random = seeded_random(seed);
    const auto x = random_change(*random);
    touched.clear();
    ASSERT_EQ(check(x), ec::none);
    const auto needed = touched;
    for (const auto& id : needed) {
      hidden = {id};
      EXPECT_EQ(check(x), ec::unverifiable) << "seed " << seed;
    }
    hidden.clear();
    // No other node was read.
    for (const auto& [id, block] : blocks)
      if (!needed.contains(id))
        hidden.insert(id);
    EXPECT_EQ(check(x), ec::none) << "seed " << seed;
    hidden.clear();
  }
}

// protocol-coverage.md 2.4.1
TEST_F(MstInversionTest, WantsValidPathsOnceEach) {
  const auto path = path_of_depth(0, 0);
  const auto root = build({{path, make_cid("x")}});
  const auto with_ops = [&](std::vector<commit_op> ops) {
    return check(root, mst::empty_root(), ops);
  };
  const commit_op good{op_action::create, path, make_cid("x"), {}};
  EXPECT_EQ(with_ops({good}), ec::none);
  EXPECT_EQ(with_ops({good, good}), ec::malformed);
  EXPECT_EQ(
    with_ops({good, {op_action::create, "nonsense", make_cid("x"), {}}}),
    ec::malformed);
  EXPECT_EQ(with_ops({{op_action::create, path, {}, {}}}), ec::malformed);
  EXPECT_EQ(with_ops({{op_action::remove, path, make_cid("x"), make_cid("y")}}),
            ec::malformed);
  EXPECT_EQ(with_ops({{op_action::update, path, make_cid("x"), {}}}),
            ec::unverifiable);
  EXPECT_EQ(with_ops({{op_action::remove, path, {}, {}}}), ec::unverifiable);
}

TEST_F(MstInversionTest, RefusesANewKeyAtTheWrongDepth) {
  // Undoing such a create leads to the valid tree before it.
  const auto low = path_of_depth(0, 0);
  const leaf_map before{{path_of_depth(1, 0), make_cid("a")},
                        {path_of_depth(1, 1), make_cid("b")}};
  const auto prev_data = build(before);
  auto sketch = sketch_of(before);
  sketch->entries.push_back({low, make_cid("c"), nullptr});
  std::ranges::sort(sketch->entries, {}, &tree_sketch::entry::key);
  std::vector<named_block> made;
  const auto data = sketch->encode(made);
  blocks.insert(made.begin(), made.end());
  const std::vector<commit_op> ops{{op_action::create, low, make_cid("c"), {}}};
  EXPECT_EQ(check(data, prev_data, ops), ec::malformed);
}

TEST_F(MstInversionTest, RefusesAnOldKeyAtTheWrongDepth) {
  // The new key hides that the root has another depth than its other keys:
  // without it, the root is the valid one again.
  const auto high = path_of_depth(2, 0);
  const leaf_map before{{path_of_depth(1, 0), make_cid("a")},
                        {path_of_depth(1, 1), make_cid("b")}};
  const auto prev_data = build(before);
  const std::vector<commit_op> ops{
    {op_action::create, high, make_cid("c"), {}}};
  auto in_root = sketch_of(before);
  in_root->entries.push_back({high, make_cid("c"), nullptr});
  std::ranges::sort(in_root->entries, {}, &tree_sketch::entry::key);

  // Or the old root is below the new one with a level left out.
  const leaf_map lower{{path_of_depth(0, 0), make_cid("a")}};
  const auto lower_root = build(lower);
  tree_sketch skipped;
  skipped.entries.push_back({high, make_cid("c"), nullptr});
  (path_of_depth(0, 0) < high ? skipped.left : skipped.entries[0].right)
    = sketch_of(lower);

  std::vector<named_block> made;
  const auto mixed = in_root->encode(made);
  const auto gap = skipped.encode(made);
  blocks.insert(made.begin(), made.end());
  EXPECT_EQ(check(mixed, prev_data, ops), ec::malformed);
  EXPECT_EQ(check(gap, lower_root, ops), ec::malformed);
}

TEST_F(MstInversionTest, RefusesANewKeyOnTheWrongSideOfOldOnes) {
  // The new key is before a subtree with smaller keys. Undoing it joins
  // nothing, so only its neighbours show the error.
  const auto first = std::min(path_of_depth(1, 0), path_of_depth(1, 1));
  const auto last = std::max(path_of_depth(1, 0), path_of_depth(1, 1));
  // `below` is less than both keys of depth 1, and is after the first.
  std::string below;
  for (size_t i = 0; below.empty(); ++i)
    if (path_of_depth(0, i) < first)
      below = path_of_depth(0, i);
  const leaf_map before{{below, make_cid("x")}, {last, make_cid("y")}};
  const auto prev_data = build(before);
  auto sketch = sketch_of(before);
  auto child = std::move(sketch->left);
  sketch->entries.insert(sketch->entries.begin(),
                         {first, make_cid("z"), std::move(child)});
  std::vector<named_block> made;
  const auto data = sketch->encode(made);
  blocks.insert(made.begin(), made.end());
  const std::vector<commit_op> ops{
    {op_action::create, first, make_cid("z"), {}}};
  EXPECT_EQ(check(data, prev_data, ops), ec::malformed);
  hidden = {sketch_of({{below, make_cid("x")}})->encode(made)};
  EXPECT_EQ(check(data, prev_data, ops), ec::unverifiable);
}

} // namespace weir::tests
