#include "tests/support/hostile_tree.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/mst_node.hpp"

#include <algorithm>

namespace weir::tests {

using namespace atproto;

namespace {

void put_link_or_null(cbor::writer& out, const cid& x) {
  if (x.defined())
    out.put_link(x);
  else
    out.put_null();
}

using leaf_range
  = std::pair<leaf_map::const_iterator, leaf_map::const_iterator>;

std::unique_ptr<tree_sketch> sketch(int depth, leaf_range leaves) {
  if (leaves.first == leaves.second)
    return nullptr;
  auto out = std::make_unique<tree_sketch>();
  out->depth = depth;
  auto begin = leaves.first;
  const auto below = [&](leaf_map::const_iterator end) {
    auto child = sketch(depth - 1, {begin, end});
    (out->entries.empty() ? out->left : out->entries.back().right)
      = std::move(child);
  };
  for (auto i = leaves.first; i != leaves.second; ++i)
    if (mst::key_depth(i->first) == depth) {
      below(i);
      out->entries.push_back({i->first, i->second, nullptr});
      begin = std::next(i);
    }
  below(leaves.second);
  return out;
}

} // namespace

bytes encode_raw(const raw_node& x) {
  cbor::writer out;
  out.begin_map(2).put_text("e").begin_array(x.entries.size());
  std::string before;
  for (const auto& entry : x.entries) {
    const auto prefix
      = entry.prefix.value_or(mst::shared_prefix(before, entry.key));
    const auto cut
      = std::min<uint64_t>(prefix, std::string_view{entry.key}.size());
    const auto suffix = entry.key.substr(static_cast<size_t>(cut));
    out.begin_map(4).put_text("k").put_bytes(as_bytes(suffix));
    out.put_text("p").put_int(static_cast<int64_t>(prefix));
    out.put_text("t");
    put_link_or_null(out, entry.right);
    out.put_text("v");
    put_link_or_null(out, entry.value);
    before = entry.key;
  }
  out.put_text("l");
  put_link_or_null(out, x.left);
  return out.take();
}

result<raw_node> decode_node(bytes_view block) {
  mst::node_reader in;
  if (auto opened = in.open(block); !opened)
    return opened.error();
  raw_node out{mst::to_cid(in.left()), {}};
  while (in.next())
    out.entries.push_back({std::string{in.key()}, mst::to_cid(in.value()),
                           mst::to_cid(in.right())});
  return out;
}

bytes encode_node(const raw_node& x) {
  mst::node_writer out;
  for (const auto& entry : x.entries)
    out.add(entry.key, entry.value.view(), entry.right.view());
  const auto block = out.finish(x.left.view());
  return {block.begin(), block.end()};
}

std::vector<tree_sketch*> tree_sketch::nodes() {
  std::vector<tree_sketch*> out{this};
  const auto add = [&out](const std::unique_ptr<tree_sketch>& child) {
    if (child)
      for (auto* x : child->nodes())
        out.push_back(x);
  };
  add(left);
  for (const auto& x : entries)
    add(x.right);
  return out;
}

cid tree_sketch::encode(std::vector<named_block>& out) const {
  raw_node node;
  if (left)
    node.left = left->encode(out);
  for (const auto& x : entries)
    node.entries.push_back(
      {x.key, x.value, x.right ? x.right->encode(out) : cid{}});
  if (edit)
    edit(node);
  auto block = encode_raw(node);
  const auto id = cid::of_dag_cbor(block);
  out.emplace_back(id, std::move(block));
  return id;
}

std::unique_ptr<tree_sketch> sketch_of(const leaf_map& leaves) {
  int depth = 0;
  for (const auto& [key, value] : leaves)
    depth = std::max(depth, mst::key_depth(key));
  return sketch(depth, {leaves.begin(), leaves.end()});
}

std::string path_of_depth(int depth, size_t n) {
  static std::map<int, std::vector<std::string>> found;
  static size_t tried = 0;
  while (found[depth].size() <= n) {
    auto path = "app.test.note/" + std::to_string(tried++);
    const auto own = mst::key_depth(path);
    found[own].push_back(std::move(path));
  }
  return found[depth][n];
}

} // namespace weir::tests
