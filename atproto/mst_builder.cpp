#include "atproto/mst_node.hpp"

#include <cassert>
#include <utility>

namespace weir::atproto::mst {

namespace {

/// The one node of a depth that can still grow. Its last entry is kept outside
/// of `done`, because the subtree after it is not finished.
struct open_node {
  node_writer done;
  cid left;
  std::string key; ///< Key of the last entry; empty when there is none.
  cid value;
  cid right;

  bool empty() const noexcept { return key.empty() && !left.defined(); }

  void append(std::string_view next_key, const cid& next_value) {
    if (!key.empty())
      done.add(key, value.view(), right.view());
    key = next_key;
    value = next_value;
    right = {};
  }

  /// Sets the subtree after all entries so far.
  void attach(const cid& child) { (key.empty() ? left : right) = child; }

  cid close(const block_sink& sink) {
    if (!key.empty())
      done.add(key, value.view(), right.view());
    const auto block = done.finish(left.view());
    auto id = cid::of_dag_cbor(block);
    if (sink)
      sink(id, block);
    done.clear();
    left = {};
    key.clear();
    right = {};
    return id;
  }
};

} // namespace

struct builder::impl {
  explicit impl(block_sink x) : sink(std::move(x)) {}

  /// Finishes all nodes below `depth` and links each to the node above it.
  void close_below(size_t depth) {
    for (size_t i = 0; i < depth; ++i)
      if (!levels[i].empty()) {
        const auto id = levels[i].close(sink);
        levels[i + 1].attach(id);
      }
  }

  block_sink sink;
  std::vector<open_node> levels; ///< One open node for each depth.
  std::string last_key;
};

builder::builder(block_sink sink)
  : impl_(std::make_unique<impl>(std::move(sink))) {}

builder::~builder() = default;

void builder::add(std::string_view key, const cid& value) {
  assert(key > impl_->last_key);
  const auto depth = static_cast<size_t>(key_depth(key));
  auto& levels = impl_->levels;
  if (levels.size() <= depth)
    levels.resize(depth + 1);
  impl_->close_below(depth);
  levels[depth].append(key, value);
  impl_->last_key = key;
}

cid builder::finish() {
  auto& levels = impl_->levels;
  impl_->last_key.clear();
  if (levels.empty())
    return open_node{}.close(impl_->sink);
  impl_->close_below(levels.size() - 1);
  auto root = levels.back().close(impl_->sink);
  levels.clear();
  return root;
}

cid root_of(std::span<const leaf> leaves, const block_sink& sink) {
  builder out{sink};
  for (const auto& x : leaves)
    out.add(x.key, x.value);
  return out.finish();
}

} // namespace weir::atproto::mst
