#include "atproto/mst_subtree.hpp"

#include <utility>

namespace weir::atproto::mst {

struct tree::impl {
  /// Runs a call that may leave the tree broken. After an error no further call
  /// runs.
  template <class Call>
  result<cid> run(Call call) {
    if (failed.code != ec::none)
      return failed;
    auto done = call(*this);
    if (!done)
      failed = done.error();
    return done;
  }

  /// Grows the tree upwards to `key_at` and adds an entry for `key`, without a
  /// value.
  result<void> raise(std::string_view key, int key_at) {
    auto halves = split(std::move(root), {depth, {}, {}}, key, parts);
    if (!halves)
      return halves.error();
    auto lift = [this, key_at](subtree x) {
      for (int i = depth + 1; !x.null() && i < key_at; ++i) {
        auto bridge = std::make_unique<tree_node>();
        bridge->left = std::move(x);
        x = {{}, std::move(bridge)};
      }
      return x;
    };
    auto& [before, after] = *halves;
    root = {{}, std::make_unique<tree_node>()};
    root.node->left = lift(std::move(before));
    root.node->entries.push_back({parts.keep(key), {}, lift(std::move(after))});
    depth = key_at;
    return {};
  }

  result<cid> put(subtree& x, const place& at, std::string_view key,
                  const cid& value, int key_at) {
    if (x.null())
      x.node = std::make_unique<tree_node>();
    auto opened = open(x, at, parts);
    if (!opened)
      return opened.error();
    if (at.depth == key_at)
      return put_here(x, at, key, value);
    auto& node = **opened;
    const auto i = node.find(key);
    if (node.holds(i, key))
      return misplaced(key);
    auto old = put(node.child(i), at.child(node, i), key, value, key_at);
    x.id = {};
    return old;
  }

  result<cid> put_here(subtree& x, const place& at, std::string_view key,
                       const cid& value) {
    auto& node = *x.node;
    x.id = {};
    const auto i = node.find(key);
    if (node.holds(i, key))
      return std::exchange(node.entries[i].value, value);
    auto halves
      = split(std::move(node.child(i)), at.child(node, i), key, parts);
    if (!halves)
      return halves.error();
    node.child(i) = std::move(halves->first);
    node.entries.insert(node.entries.begin() + static_cast<std::ptrdiff_t>(i),
                        {parts.keep(key), value, std::move(halves->second)});
    return cid{};
  }

  result<cid> remove(subtree& x, const place& at, std::string_view key,
                     int key_at) {
    if (x.null())
      return cid{};
    auto opened = open(x, at, parts);
    if (!opened)
      return opened.error();
    if (at.depth == key_at)
      return remove_here(x, at, key);
    auto& node = **opened;
    const auto i = node.find(key);
    if (node.holds(i, key))
      return misplaced(key);
    auto old = remove(node.child(i), at.child(node, i), key, key_at);
    if (!old || !old->defined())
      return old;
    x.id = {};
    if (node.empty())
      x = {};
    return old;
  }

  result<cid> remove_here(subtree& x, const place& at, std::string_view key) {
    auto& node = *x.node;
    const auto i = node.find(key);
    if (!node.holds(i, key))
      return cid{};
    auto& entry = node.entries[i];
    const place gap{at.depth - 1, at.child(node, i).low,
                    at.child(node, i + 1).high};
    auto joined = merge(std::move(node.child(i)), std::move(entry.right), gap,
                        entry.key, parts);
    if (!joined)
      return joined.error();
    auto old = std::move(entry.value);
    node.entries.erase(node.entries.begin() + static_cast<std::ptrdiff_t>(i));
    node.child(i) = std::move(*joined);
    x.id = {};
    if (node.empty())
      x = {};
    return old;
  }

  /// Removes top nodes that have no entry, only a subtree.
  result<void> trim() {
    while (root.node && root.node->entries.empty()) {
      auto below = std::move(root.node->left);
      root = std::move(below);
      --depth;
      if (root.null())
        break;
      if (auto opened = open(root, {depth, {}, {}}, parts); !opened)
        return opened.error();
    }
    return {};
  }

  tree_parts parts;
  subtree root;
  int depth = 0; ///< Depth of the root; unused while the root is null.
  bool changed = false;
  error failed;
};

tree::tree() : impl_(std::make_unique<impl>()) {}

tree::~tree() = default;

tree::tree(tree&&) noexcept = default;

tree& tree::operator=(tree&&) noexcept = default;

result<tree> tree::load(const cid& root, block_source source) {
  const auto* block = source ? source(root) : nullptr;
  if (block == nullptr)
    return fail(ec::unverifiable, "MST root is not here");
  tree out;
  auto node = load_node(*block, out.impl_->parts);
  if (!node)
    return node.error();
  out.impl_->parts.source = std::move(source);
  if ((*node)->empty())
    return out;
  if ((*node)->entries.empty())
    return fail(ec::malformed, "the MST root only points down");
  out.impl_->depth = key_depth((*node)->entries.front().key);
  if (!is_depth_allowed(out.impl_->depth))
    return fail(ec::limit_reached, "MST too deep"); // unreachable: no such key
  out.impl_->root = {root, std::move(*node)};
  return out;
}

result<cid> tree::put(std::string_view key, const cid& value) {
  return impl_->run([&](impl& self) -> result<cid> {
    const auto key_at = key_depth(key);
    self.changed = true;
    if (self.root.null())
      self.depth = key_at;
    else if (self.depth < key_at)
      if (auto raised = self.raise(key, key_at); !raised)
        return raised.error();
    return self.put(self.root, {self.depth, {}, {}}, key, value, key_at);
  });
}

result<cid> tree::remove(std::string_view key) {
  return impl_->run([&](impl& self) -> result<cid> {
    const auto key_at = key_depth(key);
    if (key_at > self.depth)
      return cid{};
    auto old = self.remove(self.root, {self.depth, {}, {}}, key, key_at);
    if (!old || !old->defined())
      return old;
    self.changed = true;
    if (auto trimmed = self.trim(); !trimmed)
      return trimmed.error();
    return old;
  });
}

result<cid> tree::root(const block_sink& sink) {
  return impl_->run([&](impl& self) -> result<cid> {
    const bool changed = std::exchange(self.changed, false);
    if (self.root.null()) {
      if (changed && sink)
        sink(empty_root(), node_writer{}.finish({}));
      return empty_root();
    }
    // The depth of the key at the top was never checked when it is here only
    // because the keys beside it were removed.
    const auto& top = self.root.node->entries.front().key;
    if (key_depth(top) != self.depth)
      return misplaced(top);
    return seal(self.root, sink, self.parts);
  });
}

} // namespace weir::atproto::mst
