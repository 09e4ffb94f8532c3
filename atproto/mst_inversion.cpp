#include "atproto/identifiers.hpp"
#include "atproto/mst.hpp"

#include <algorithm>

namespace weir::atproto::mst {

namespace {

/// The order in which ops are undone: deletes first, then the rest, each group
/// by path. Another order gives the same tree but may need other nodes, which
/// the sender did not have to include.
std::vector<const commit_op*> undo_order(std::span<const commit_op> ops) {
  std::vector<const commit_op*> out;
  out.reserve(ops.size());
  for (const auto& x : ops)
    out.push_back(&x);
  std::sort(out.begin(), out.end(), [](const auto* x, const auto* y) {
    const bool x_late = x->action != op_action::remove;
    const bool y_late = y->action != op_action::remove;
    return x_late != y_late ? y_late : x->path < y->path;
  });
  return out;
}

result<void> check_ops(std::span<const commit_op> ops) {
  std::vector<std::string_view> paths;
  paths.reserve(ops.size());
  for (const auto& x : ops) {
    if (!valid_repo_path(x.path))
      return fail(ec::malformed, "op with an invalid path");
    if (x.id.defined() != (x.action != op_action::remove))
      return fail(ec::malformed, "op with a wrong cid: " + std::string{x.path});
    if (x.action != op_action::create && !x.prev.defined())
      return fail(ec::unverifiable, "op without prev: " + std::string{x.path});
    paths.push_back(x.path);
  }
  std::sort(paths.begin(), paths.end());
  if (const auto twice = std::adjacent_find(paths.begin(), paths.end());
      twice != paths.end())
    return fail(ec::malformed, "two ops for one path: " + std::string{*twice});
  return {};
}

/// Undoes one op. The tree must contain what the op left: the value of a create
/// or update, and nothing after a delete. Ops have different paths, so undoing
/// one does not change what another one finds.
result<void> undo(tree& from, const commit_op& op) {
  auto found = op.action == op_action::create ? from.remove(op.path)
                                              : from.put(op.path, op.prev);
  if (!found)
    return found.error();
  if (*found != op.id)
    return fail(ec::verification_failed,
                "the tree does not hold what the op says: "
                  + std::string{op.path});
  return {};
}

} // namespace

result<void> check_inversion(const cid& data, const cid& prev_data,
                             std::span<const commit_op> ops,
                             const block_source& source) {
  if (auto checked = check_ops(ops); !checked)
    return checked;
  auto root = result<cid>{data};
  if (!ops.empty()) {
    auto loaded = tree::load(data, source);
    if (!loaded)
      return loaded.error();
    for (const auto* op : undo_order(ops))
      if (auto undone = undo(*loaded, *op); !undone)
        return undone;
    root = loaded->root();
  }
  if (!root)
    return root.error();
  if (*root != prev_data)
    return fail(ec::verification_failed, "the ops do not lead from prevData");
  return {};
}

} // namespace weir::atproto::mst
