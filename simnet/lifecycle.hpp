#pragma once

#include "base/error.hpp"
#include "simnet/world.hpp"

/// What happens to accounts, with the events in which real servers tell it
/// (protocol-coverage.md 4). The caller holds the account.
namespace weir::simnet {

/// One commit goes unannounced; the next one, which follows from it, is.
void break_chain(world& where, world::account& x);

/// Announces a commit that never was, of any rev, signed with a key of somebody
/// else.
void forge_commit(world& where, world::account& x, atproto::tid rev);

/// Announces a true commit with a prevData that its operations do not lead
/// back to.
void mislead_commit(world& where, world::account& x);

/// Announces a true commit as one that is too large to be told (tooBig), without
/// its operations.
void leave_out(world& where, world::account& x);

/// Announces a true commit under the CID of another one.
void misname_commit(world& where, world::account& x);

/// #identity, then #sync under a revision that no commit announced.
void rotate_key(world& where, world::account& x);

/// #identity.
void change_handle(world& where, world::account& x, std::string handle);

/// #account. @pre `next` is deactivated, suspended or takendown.
void make_inactive(world& where, world::account& x, standing next);

/// After a takedown: #account alone.
void restore(world& where, world::account& x);

/// After a deactivation: #account, #identity, #sync of the same revision.
void reactivate(world& where, world::account& x);

/// The relay's own takedown, and the end of it; the host knows nothing of it.
/// @pre the network has a relay
void take_down_at_relay(world& where, world::account& x);
void restore_at_relay(world& where, world::account& x);

/// Its events disappear from the host's stream; #account says so.
void remove_account(world& where, world::account& x);

/// Moves to another host with a new key, by importing the repository: the new
/// host's #sync names a fresh revision, its commit is the old one.
/// @pre `target` is a host, and not its own.
void migrate(world& where, world::account& x, size_t target);

} // namespace weir::simnet
