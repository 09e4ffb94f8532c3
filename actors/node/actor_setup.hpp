#pragma once

#include "actors/backfill/backfill.hpp"
#include "actors/node/network.hpp"
#include "actors/repo/repo.hpp"
#include "actors/supervisor/supervisor.hpp"

#include <vector>

namespace weir::storage {
class database;
class disk_env;
} // namespace weir::storage

namespace weir::actors {

/// Spools of imports: small bodies are in memory, large ones in files under the
/// data directory, which are removed with the import.
spool_factory make_spool_factory(const node_config& config);

/// Spawns the actors that meet the network, each with what the options, the
/// memory plan and the sockets say; and BACKUP.
///
/// # Ownership and threads
/// Borrows everything from NODE. Any thread.
struct actor_setup {
  caf::actor_system& system;
  const node_config& config;
  const context_ptr& shared;
  const network& net;

  identity_actor identity() const;

  /// Makes BACKFILLs as long as NODE lives.
  backfill_factory backfills() const;

  /// @param has_quiet_work Whether any repo has some (`has_quiet_work`).
  supervisor_environment environment_of_supervisor(uint32_t filter_generation,
                                                   bool has_quiet_work) const;
  supervisor_actor supervisor(supervisor_environment env) const;

  /// @param stores Open, in the order of partitions.
  /// @param disk Null: the machine's.
  backup_actor backup(std::vector<storage::database*> stores,
                      storage::disk_env* disk, bool own_thread) const;

  upstream_actor stream(const storage::upstream_row& row) const;
};

} // namespace weir::actors
