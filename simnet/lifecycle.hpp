#pragma once

#include "base/error.hpp"
#include "simnet/world.hpp"

/// Changes of accounts, with the events that real servers send for them
/// (protocol-coverage.md 4). The caller has locked the account.
namespace weir::simnet {

/// Makes two commits and announces only the second one.
void break_chain(world& where, world::account& x);

/// Announces a commit with any rev that was never made, signed with another
/// key.
void forge_commit(world& where, world::account& x, atproto::tid rev);

/// Announces a true commit with a prevData to which its operations do not lead
/// back.
void mislead_commit(world& where, world::account& x);

/// Announces a true commit as too large (tooBig), without its operations.
void leave_out(world& where, world::account& x);

/// Announces a true commit under the CID of another one.
void misname_commit(world& where, world::account& x);

/// Sends #identity, then #sync with a rev that no commit announced.
void rotate_key(world& where, world::account& x);

/// Sends #identity.
void change_handle(world& where, world::account& x, std::string handle);

/// Sends #account. @pre `next` is deactivated, suspended or takendown.
void make_inactive(world& where, world::account& x, standing next);

/// Ends a takedown: sends only #account.
void restore(world& where, world::account& x);

/// Ends a deactivation: sends #account, #identity and #sync with the same rev.
void reactivate(world& where, world::account& x);

/// The relay's own takedown and its end. The host does not know of it.
/// @pre the network has a relay
void take_down_at_relay(world& where, world::account& x);
void restore_at_relay(world& where, world::account& x);

/// Removes the account's events from the host's stream and sends #account.
void remove_account(world& where, world::account& x);

/// Moves the account to another host with a new key, by importing the
/// repository. The new host's #sync has a new rev, but its commit is the old
/// one.
/// @pre `target` is another host
void migrate(world& where, world::account& x, size_t target);

} // namespace weir::simnet
