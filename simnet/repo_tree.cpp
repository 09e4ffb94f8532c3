#include "simnet/repo_tree.hpp"

#include "atproto/dag_cbor.hpp"
#include "atproto/mst.hpp"

#include <algorithm>

namespace weir::simnet {

namespace {

struct node;
using node_ptr = std::unique_ptr<node>;

struct entry {
  std::string key;
  record value;
  node_ptr right; ///< The subtree between this key and the next one.
};

/// One node. A child slot is empty or has a node of the next lower depth.
struct node {
  explicit node(int d) : depth(d) {}

  int depth;
  node_ptr left;
  std::vector<entry> entries;
  size_t records = 0; ///< Those in this subtree, at the last hashing.
  atproto::cid id;    ///< Undefined when changed since then.
  bytes block;
  mutable uint64_t seen = 0; ///< The last collection that included this node.

  /// The slot before the entry at `index`; for `entries.size()` the last one.
  node_ptr& slot(size_t index) noexcept {
    return index == 0 ? left : entries[index - 1].right;
  }

  const node* child(size_t index) const noexcept {
    return (index == 0 ? left : entries[index - 1].right).get();
  }

  /// Index of the first entry whose key is not less than `key`.
  size_t lower_bound(std::string_view key) const noexcept {
    const auto at = std::ranges::lower_bound(entries, key, std::less<>{},
                                             [](const entry& x) {
                                               return std::string_view{x.key};
                                             });
    return static_cast<size_t>(at - entries.begin());
  }

  bool holds(size_t index, std::string_view key) const noexcept {
    return index < entries.size() && entries[index].key == key;
  }

  bool empty() const noexcept { return entries.empty() && !left; }
};

/// Returns null for an empty node.
node_ptr prune(node_ptr x) {
  return x && x->empty() ? nullptr : std::move(x);
}

/// Puts `x` below nodes without entries, up to `depth`.
node_ptr lift(node_ptr x, int depth) {
  while (x && x->depth < depth) {
    auto above = std::make_unique<node>(x->depth + 1);
    above->left = std::move(x);
    x = std::move(above);
  }
  return x;
}

/// Splits a subtree at a key that it does not contain.
std::pair<node_ptr, node_ptr> split(node_ptr low, std::string_view key) {
  if (!low)
    return {};
  low->id = {};
  const auto index = low->lower_bound(key);
  auto high = std::make_unique<node>(low->depth);
  auto [inner_low, inner_high] = split(std::move(low->slot(index)), key);
  const auto first = low->entries.begin() + static_cast<ptrdiff_t>(index);
  high->entries.assign(std::move_iterator{first},
                       std::move_iterator{low->entries.end()});
  low->entries.erase(first, low->entries.end());
  low->slot(index) = std::move(inner_low);
  high->left = std::move(inner_high);
  return {prune(std::move(low)), prune(std::move(high))};
}

/// Joins two subtrees of the same depth. All keys of `x` are less than those of
/// `y`.
node_ptr merge(node_ptr x, node_ptr y) {
  if (!x || !y)
    return x ? std::move(x) : std::move(y);
  x->id = {};
  auto& seam = x->slot(x->entries.size());
  seam = merge(std::move(seam), std::move(y->left));
  x->entries.insert(x->entries.end(), std::move_iterator{y->entries.begin()},
                    std::move_iterator{y->entries.end()});
  return x;
}

atproto::cid remove_from(node_ptr& slot, std::string_view key) {
  if (!slot)
    return {};
  auto& n = *slot;
  const auto index = n.lower_bound(key);
  atproto::cid out;
  if (n.holds(index, key)) {
    auto& gone = n.entries[index];
    out = gone.value.id;
    auto joined = merge(std::move(n.slot(index)), std::move(gone.right));
    n.entries.erase(n.entries.begin() + static_cast<ptrdiff_t>(index));
    n.slot(index) = std::move(joined);
  } else {
    out = remove_from(n.slot(index), key);
  }
  if (out.defined()) {
    n.id = {};
    slot = prune(std::move(slot));
  }
  return out;
}

size_t common_prefix(std::string_view x, std::string_view y) noexcept {
  return static_cast<size_t>(std::ranges::mismatch(x, y).in1 - x.begin());
}

void put_child(atproto::cbor::writer& out, const node* child) {
  out.put_link_or_null(child ? child->id : atproto::cid{});
}

/// Encodes `n`, whose children are hashed already. The result is borrowed from
/// `out`.
bytes_view encode(const node& n, atproto::cbor::writer& out) {
  out.clear();
  out.begin_map(2).put_text("e").begin_array(n.entries.size());
  std::string_view previous;
  for (const auto& x : n.entries) {
    const auto shared = common_prefix(x.key, previous);
    out.begin_map(4)
      .put_text("k")
      .put_bytes(as_bytes(std::string_view{x.key}.substr(shared)))
      .put_text("p")
      .put_int(static_cast<int64_t>(shared))
      .put_text("t");
    put_child(out, x.right.get());
    out.put_text("v").put_link(x.value.id);
    previous = x.key;
  }
  put_child(out.put_text("l"), n.left.get());
  return out.data();
}

void hash(node& n, atproto::cbor::writer& scratch) {
  if (n.id.defined())
    return;
  n.records = n.entries.size();
  for (size_t i = 0; i <= n.entries.size(); ++i)
    if (auto* child = n.slot(i).get()) {
      hash(*child, scratch);
      n.records += child->records;
    }
  const auto block = encode(n, scratch);
  n.block.assign(block.begin(), block.end());
  n.id = atproto::cid::of_dag_cbor(n.block);
}

bool visit_after(const node* n, std::string_view after,
                 const repo_tree::visitor& visit) {
  if (!n)
    return true;
  auto index = n->lower_bound(after);
  if (n->holds(index, after))
    ++index;
  for (;; ++index) {
    if (!visit_after(n->child(index), after, visit))
      return false;
    if (index == n->entries.size())
      return true;
    if (const auto& x = n->entries[index]; !visit(x.key, x.value))
      return false;
  }
}

using block_list = std::vector<repo_tree::block>;

void list_blocks(const node* n, block_list& out) {
  if (!n)
    return;
  out.push_back({&n->id, n->block});
  list_blocks(n->left.get(), out);
  for (const auto& x : n->entries) {
    out.push_back({&x.value.id, x.value.block});
    list_blocks(x.right.get(), out);
  }
}

/// Collects nodes, each only once.
class collector {
public:
  collector(block_list& out, uint64_t stamp) : out_(out), stamp_(stamp) {}

  void take_path(const node* n, std::string_view key) {
    while (n) {
      take(*n);
      const auto index = n->lower_bound(key);
      if (n->holds(index, key)) {
        for (auto* low = n->child(index); low;
             low = low->child(low->entries.size()))
          take(*low);
        for (auto* high = n->child(index + 1); high; high = high->child(0))
          take(*high);
        return;
      }
      n = n->child(index);
    }
  }

private:
  void take(const node& n) {
    if (std::exchange(n.seen, stamp_) != stamp_)
      out_.push_back({&n.id, n.block});
  }

  block_list& out_;
  uint64_t stamp_;
};

const bytes& empty_root_block() {
  static const auto block = [] {
    atproto::cbor::writer out;
    encode(node{0}, out);
    return out.take();
  }();
  return block;
}

} // namespace

struct repo_tree::impl {
  node_ptr root;
  mutable uint64_t collections = 0;

  const atproto::cid& root_id() const noexcept {
    return root ? root->id : atproto::mst::empty_root();
  }
};

repo_tree::repo_tree() : impl_(std::make_unique<impl>()) {}

repo_tree::~repo_tree() = default;
repo_tree::repo_tree(repo_tree&&) noexcept = default;
repo_tree& repo_tree::operator=(repo_tree&&) noexcept = default;

atproto::cid repo_tree::put(std::string path, record x) {
  const auto depth = atproto::mst::key_depth(path);
  auto& root = impl_->root;
  if (!root) {
    root = std::make_unique<node>(depth);
  } else if (root->depth < depth) {
    auto [low, high] = split(std::move(root), path);
    root = std::make_unique<node>(depth);
    root->left = lift(std::move(low), depth - 1);
    root->entries.push_back(
      {std::move(path), std::move(x), lift(std::move(high), depth - 1)});
    return {};
  }
  auto* n = root.get();
  for (n->id = {}; n->depth > depth; n->id = {}) {
    auto& slot = n->slot(n->lower_bound(path));
    if (!slot)
      slot = std::make_unique<node>(n->depth - 1);
    n = slot.get();
  }
  const auto index = n->lower_bound(path);
  if (n->holds(index, path))
    return std::exchange(n->entries[index].value, std::move(x)).id;
  auto [low, high] = split(std::move(n->slot(index)), path);
  n->slot(index) = std::move(low);
  n->entries.insert(n->entries.begin() + static_cast<ptrdiff_t>(index),
                    {std::move(path), std::move(x), std::move(high)});
  return {};
}

atproto::cid repo_tree::remove(std::string_view path) {
  auto out = remove_from(impl_->root, path);
  while (impl_->root && impl_->root->entries.empty())
    impl_->root = std::move(impl_->root->left);
  return out;
}

const record* repo_tree::find(std::string_view path) const noexcept {
  for (const auto* n = impl_->root.get(); n;) {
    const auto index = n->lower_bound(path);
    if (n->holds(index, path))
      return &n->entries[index].value;
    n = n->child(index);
  }
  return nullptr;
}

const atproto::cid& repo_tree::root() {
  if (impl_->root) {
    atproto::cbor::writer scratch;
    hash(*impl_->root, scratch);
  }
  return impl_->root_id();
}

size_t repo_tree::size() const noexcept {
  return impl_->root ? impl_->root->records : 0;
}

const std::string& repo_tree::path_at(size_t index) const {
  const auto* n = impl_->root.get();
  for (size_t i = 0;;) {
    const auto* child = n->child(i);
    const auto below = child ? child->records : 0;
    if (index < below) {
      n = child;
      i = 0;
    } else if (index -= below; index == 0) {
      return n->entries[i].key;
    } else {
      --index;
      ++i;
    }
  }
}

void repo_tree::visit(std::string_view after, const visitor& visit) const {
  visit_after(impl_->root.get(), after, visit);
}

std::vector<repo_tree::block> repo_tree::blocks() const {
  block_list out;
  if (impl_->root)
    list_blocks(impl_->root.get(), out);
  else
    out.push_back({&impl_->root_id(), empty_root_block()});
  return out;
}

std::vector<repo_tree::block>
repo_tree::proof(std::span<const std::string_view> paths) const {
  block_list out;
  if (!impl_->root)
    out.push_back({&impl_->root_id(), empty_root_block()});
  else if (paths.empty())
    out.push_back({&impl_->root_id(), impl_->root->block});
  collector taker{out, ++impl_->collections};
  for (const auto path : paths)
    taker.take_path(impl_->root.get(), path);
  return out;
}

} // namespace weir::simnet
