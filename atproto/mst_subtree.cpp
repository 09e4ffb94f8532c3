#include "atproto/mst_subtree.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace weir::atproto::mst {

namespace {

/// Checks that a node fits its place. Only one of its keys is hashed.
result<void> check_place(const tree_node& x, const place& at) {
  if (x.empty())
    return fail(ec::malformed, "empty MST node");
  if (x.entries.empty())
    return {};
  const auto& first = x.entries.front().key;
  if (first <= at.low || (!at.high.empty() && x.entries.back().key >= at.high))
    return fail(ec::malformed, "MST keys outside the range of their subtree");
  if (key_depth(first) != at.depth)
    return misplaced(first);
  return {};
}

} // namespace

size_t tree_node::find(std::string_view key) const noexcept {
  const auto at = std::partition_point(entries.begin(), entries.end(),
                                       [key](const auto& x) {
                                         return x.key < key;
                                       });
  return static_cast<size_t>(at - entries.begin());
}

std::string_view tree_parts::keep(std::string_view key) {
  auto* out = static_cast<char*>(keys.allocate(key.size(), 1));
  std::memcpy(out, key.data(), key.size());
  return {out, key.size()};
}

error misplaced(std::string_view key) {
  return fail(ec::malformed,
              "key at the wrong depth of the MST: " + std::string{key});
}

result<std::unique_ptr<tree_node>> load_node(bytes_view block, tree_parts& of) {
  auto& in = of.reader;
  if (auto opened = in.open(block); !opened)
    return opened.error();
  auto out = std::make_unique<tree_node>();
  out->left.id = to_cid(in.left());
  out->entries.reserve(in.size());
  while (in.next())
    out->entries.push_back(
      {of.keep(in.key()), to_cid(in.value()), {to_cid(in.right()), {}}});
  return out;
}

result<tree_node*> open(subtree& x, const place& at, tree_parts& of) {
  if (x.node)
    return x.node.get();
  if (at.depth < 0)
    return fail(ec::malformed, "MST node below depth 0");
  const auto* block = of.source ? of.source(x.id) : nullptr;
  if (block == nullptr)
    return fail(ec::unverifiable, "MST node is not here: " + x.id.to_text());
  auto loaded = load_node(*block, of);
  if (!loaded)
    return loaded.error();
  if (auto checked = check_place(**loaded, at); !checked)
    return checked.error();
  x.node = std::move(*loaded);
  return x.node.get();
}

result<std::pair<subtree, subtree>>
split(subtree x, const place& at, std::string_view key, tree_parts& of) {
  if (x.null())
    return std::pair<subtree, subtree>{};
  auto opened = open(x, at, of);
  if (!opened)
    return opened.error();
  auto& node = **opened;
  const auto i = node.find(key);
  if (node.holds(i, key))
    return misplaced(key);
  auto halves = split(std::move(node.child(i)), at.child(node, i), key, of);
  if (!halves)
    return halves.error();
  auto& [before, after] = *halves;
  if (i == node.entries.size() && after.null()) {
    node.child(i) = std::move(before);
    return std::pair{std::move(x), subtree{}};
  }
  if (i == 0 && before.null()) {
    node.left = std::move(after);
    return std::pair{subtree{}, std::move(x)};
  }
  auto rest = std::make_unique<tree_node>();
  rest->left = std::move(after);
  const auto cut = node.entries.begin() + static_cast<std::ptrdiff_t>(i);
  rest->entries.assign(std::make_move_iterator(cut),
                       std::make_move_iterator(node.entries.end()));
  node.entries.erase(cut, node.entries.end());
  node.child(i) = std::move(before);
  x.id = {};
  return std::pair{std::move(x), subtree{{}, std::move(rest)}};
}

namespace {

enum class side : uint8_t { left, right };

/// Loads the nodes down one side of a subtree, to check that its outermost key
/// lies within the bounds.
result<void> open_side(subtree& x, place at, side which, tree_parts& of) {
  for (auto* below = &x; !below->null();) {
    auto opened = open(*below, at, of);
    if (!opened)
      return opened.error();
    auto& node = **opened;
    const auto i = which == side::left ? 0 : node.entries.size();
    at = at.child(node, i);
    below = &node.child(i);
  }
  return {};
}

} // namespace

result<subtree> merge(subtree x, subtree y, const place& at,
                      std::string_view between, tree_parts& of) {
  const place before{at.depth, at.low, between};
  const place after{at.depth, between, at.high};
  if (x.null() || y.null()) {
    auto& only = x.null() ? y : x;
    auto opened = x.null() ? open_side(y, after, side::left, of)
                           : open_side(x, before, side::right, of);
    if (!opened)
      return opened.error();
    return std::move(only);
  }
  auto first = open(x, before, of);
  if (!first)
    return first.error();
  auto second = open(y, after, of);
  if (!second)
    return second.error();
  auto& left = **first;
  auto& right = **second;
  const auto size = left.entries.size();
  const place seam{at.depth - 1, at.child(left, size).low,
                   at.child(right, 0).high};
  auto joined = merge(std::move(left.child(size)), std::move(right.left), seam,
                      between, of);
  if (!joined)
    return joined.error();
  left.child(size) = std::move(*joined);
  std::move(right.entries.begin(), right.entries.end(),
            std::back_inserter(left.entries));
  x.id = {};
  return x;
}

cid seal(subtree& x, const block_sink& sink, tree_parts& of) {
  if (x.id.defined() || !x.node)
    return x.id;
  seal(x.node->left, sink, of);
  for (auto& entry : x.node->entries)
    seal(entry.right, sink, of);
  auto& out = of.writer;
  out.clear(); // Only now: the nodes below were written with it.
  for (const auto& entry : x.node->entries)
    out.add(entry.key, entry.value.view(), entry.right.id.view());
  const auto block = out.finish(x.node->left.id.view());
  x.id = cid::of_dag_cbor(block);
  if (sink)
    sink(x.id, block);
  return x.id;
}

} // namespace weir::atproto::mst
