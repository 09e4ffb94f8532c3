#include "simnet/lifecycle.hpp"

#include <utility>

namespace weir::simnet {

namespace {

std::vector<change> one_change(world& where, world::account& x) {
  std::vector<change> out;
  out.push_back(where.new_change(x));
  return out;
}

atproto::private_key new_key(world::account& x) {
  return atproto::private_key::generate(x.repo.key().public_part().which(),
                                        *x.random);
}

} // namespace

void break_chain(world& where, world::account& x) {
  x.listed_rev
    = x.repo.commit(one_change(where, x), where.next_rev(x)).event.rev;
  where.commit(x, one_change(where, x));
}

void forge_commit(world& where, world::account& x, atproto::tid rev) {
  const auto forged = x.repo.forge(where.new_change(x), rev, new_key(x));
  where.announce(x, forged.event);
}

void mislead_commit(world& where, world::account& x) {
  const auto lie = atproto::cid::of_dag_cbor(as_bytes(x.id().str()));
  where.commit(x, one_change(where, x), [&lie](atproto::commit_event& event) {
    event.prev_data = lie;
  });
}

void leave_out(world& where, world::account& x) {
  where.commit(x, one_change(where, x), [](atproto::commit_event& event) {
    event.too_big = true;
    event.ops.clear();
  });
}

void misname_commit(world& where, world::account& x) {
  const auto other = atproto::cid::of_dag_cbor(as_bytes(x.id().str()));
  where.commit(x, one_change(where, x), [&other](atproto::commit_event& event) {
    event.commit = other;
  });
}

void rotate_key(world& where, world::account& x) {
  x.set_key(new_key(x));
  x.listed_rev = where.next_rev(x);
  x.repo.sign(x.listed_rev);
  where.announce_identity(x, false);
  where.announce_sync(x, x.listed_rev);
}

void change_handle(world& where, world::account& x, std::string handle) {
  where.rename(x, std::move(handle));
  where.announce_identity(x, true);
}

void make_inactive(world& where, world::account& x, standing next) {
  x.status = next;
  where.announce_account(x, x.host, status_word(next));
}

void restore(world& where, world::account& x) {
  x.status = standing::active;
  where.announce_account(x, x.host, nullptr);
}

void reactivate(world& where, world::account& x) {
  restore(where, x);
  where.announce_identity(x, true);
  where.announce_sync(x, x.listed_rev);
}

void take_down_at_relay(world& where, world::account& x) {
  x.relay_takedown = true;
  where.announce_relay_account(x, status_word(standing::takendown));
}

void restore_at_relay(world& where, world::account& x) {
  x.relay_takedown = false;
  where.announce_relay_account(x, nullptr);
}

void remove_account(world& where, world::account& x) {
  x.status = standing::deleted;
  where.host_log(x.host).erase(x.index);
  where.announce_account(x, x.host, status_word(x.status));
}

void migrate(world& where, world::account& x, size_t target) {
  const auto old = std::exchange(x.host, target);
  std::erase_if(x.former, [target](const former_home& home) {
    return home.host == target;
  });
  x.former.push_back({old, x.listed_rev, x.repo.last().head});
  x.set_key(new_key(x));
  x.listed_rev = where.next_rev(x);
  where.announce_identity(x, false);
  where.announce_account(x, x.host, nullptr);
  where.announce_identity(x, true);
  where.announce_sync(x, x.listed_rev);
  where.announce_account(x, old, status_word(standing::deactivated));
}

} // namespace weir::simnet
