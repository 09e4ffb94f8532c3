#pragma once

#include "actors/backfill/fetch_machine.hpp"
#include "actors/support/context.hpp"
#include "messages/backfill.hpp"
#include "net/http_client.hpp"

#include <functional>

namespace weir::actors {

/// Starts `getRepo` at a host. The head, the pieces and the end of the answer
/// go to `to`. The real one is `make_repo_fetcher`.
using repo_fetcher = std::function<net::http_call_ptr(
  const std::string& pds, const atproto::did& repo, backfill_actor to)>;

/// Memory or a file, by how much is written. Made once for each import.
struct import_spools {
  std::unique_ptr<atproto::spool> store;
  std::unique_ptr<atproto::spool> index;
  /// True when reads may touch the disk: then steps run on a READER.
  std::function<bool()> on_disk;
};

using spool_factory = std::function<import_spools()>;

struct backfill_environment {
  context_ptr shared;
  repo_fetcher fetch;
  spool_factory spools;
  fetch_bounds bounds;
  metric* bytes = nullptr;
  metric* records = nullptr;
};

/// Spawns one fetch of one repo: it spools the CAR, verifies and walks it,
/// compares it with the store, and passes the chunks to the REPO. It works in
/// quanta of about 2 ms, so that live work goes on.
///
/// Lifetime: `from` spawns and monitors it. It ends when its result is sent.
backfill_actor spawn_backfill(caf::actor_system& system,
                              const backfill_environment& env,
                              const atproto::did& repo, fetch_order order,
                              repo_actor from);

} // namespace weir::actors
