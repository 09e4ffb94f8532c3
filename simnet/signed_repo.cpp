#include "simnet/signed_repo.hpp"

#include "atproto/car.hpp"
#include "simnet/population.hpp"

#include <utility>

namespace weir::simnet {

using atproto::car_writer;
using atproto::op_action;

signed_repo::signed_repo(atproto::did id, atproto::private_key key)
  : id_(std::move(id)), key_(std::move(key)) {}

signed_commit signed_repo::commit(std::vector<change> changes,
                                  atproto::tid rev) {
  return commit(std::move(changes), rev, key_);
}

signed_commit signed_repo::forge(change create, atproto::tid rev,
                                 const atproto::private_key& forger) {
  auto before = chain_;
  std::vector<change> changes;
  changes.push_back(std::move(create));
  auto out = commit(std::move(changes), rev, forger);
  tree_.remove(out.paths.front());
  tree_.root();
  chain_ = std::move(before);
  return out;
}

void signed_repo::sign(atproto::tid rev) {
  sign(rev, key_);
}

bytes signed_repo::sync_slice() const {
  car_writer out{{&chain_.head, 1}};
  out.add(chain_.head, chain_.block);
  return out.take();
}

bytes signed_repo::export_car(random_source* shuffle_with) const {
  auto blocks = tree_.blocks();
  blocks.insert(blocks.begin(), {&chain_.head, chain_.block});
  if (shuffle_with)
    shuffle(blocks, *shuffle_with);
  car_writer out{{&chain_.head, 1}};
  for (const auto& x : blocks)
    out.add(*x.id, x.data);
  return out.take();
}

bytes signed_repo::prove(std::string_view path) const {
  car_writer out{{&chain_.head, 1}};
  out.add(chain_.head, chain_.block);
  for (const auto& x : tree_.proof({&path, 1}))
    out.add(*x.id, x.data);
  if (const auto* found = tree_.find(path))
    out.add(found->id, found->block);
  return out.take();
}

atproto::commit_op signed_repo::apply(change& x) {
  atproto::commit_op out;
  out.action = x.action;
  out.path = x.path;
  if (x.action == op_action::remove) {
    out.prev = tree_.remove(x.path);
    return out;
  }
  out.id = atproto::cid::of_dag_cbor(x.block);
  out.prev = tree_.put(x.path, {out.id, std::move(x.block)});
  return out;
}

void signed_repo::sign(atproto::tid rev, const atproto::private_key& key) {
  chain_.rev = rev;
  chain_.data = tree_.root();
  atproto::commit_object x;
  x.repo = id_;
  x.rev = rev;
  x.data = chain_.data;
  chain_.block = encode_signed_commit(std::move(x), key);
  chain_.head = atproto::cid::of_dag_cbor(chain_.block);
}

signed_commit signed_repo::commit(std::vector<change> changes, atproto::tid rev,
                                  const atproto::private_key& key) {
  signed_commit out;
  auto& event = out.event;
  event.repo = id_;
  event.rev = rev;
  if (chain_.rev.defined())
    event.since = chain_.rev;
  event.prev_data = chain_.data;
  event.ops.reserve(changes.size());
  out.paths.reserve(changes.size());
  for (auto& x : changes) {
    event.ops.push_back(apply(x));
    out.paths.push_back(std::move(x.path));
    event.ops.back().path = out.paths.back();
  }
  sign(rev, key);
  event.commit = chain_.head;
  fill_slice(out);
  return out;
}

void signed_repo::fill_slice(signed_commit& x) const {
  const std::vector<std::string_view> paths(x.paths.begin(), x.paths.end());
  car_writer out{{&chain_.head, 1}};
  out.add(chain_.head, chain_.block);
  for (const auto& node : tree_.proof(paths))
    out.add(*node.id, node.data);
  for (const auto& op : x.event.ops)
    if (op.id.defined())
      out.add(op.id, tree_.find(op.path)->block);
  x.slice = out.take();
  x.event.blocks = x.slice;
}

} // namespace weir::simnet
