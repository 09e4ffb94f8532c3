#pragma once

#include "actors/backfill/fetch_machine.hpp"
#include "actors/support/context.hpp"
#include "messages/backfill.hpp"
#include "messages/fetch_order.hpp"

#include <functional>

namespace caf {
class actor_system;
} // namespace caf

namespace weir::actors {

/// An HTTP body under way, as far as a BACKFILL needs it. Any thread.
class repo_download {
public:
  virtual ~repo_download() = default;

  /// Allows more body bytes to be read from the socket.
  virtual void grant(uint64_t bytes) = 0;

  virtual void cancel() = 0;
};

/// Starts `getRepo` at a host; head, pieces and end go to `to`. The real one is
/// `make_repo_fetcher`.
using repo_fetcher = std::function<std::shared_ptr<repo_download>(
  const std::string& pds, const atproto::did& repo, backfill_actor to)>;

/// Memory or a file, by what is fed; made once an import.
struct import_spools {
  std::unique_ptr<atproto::spool> store;
  std::unique_ptr<atproto::spool> index;
  /// True when reads may touch the disk: steps then run on a READER.
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

/// Spawns one fetch of one repo: spool, verify, walk, diff, hand the chunks to
/// the REPO. Works in quanta of about 2 ms, so that live work goes on.
///
/// Lifetime: spawned and monitored by `from`; ends by itself, after it has sent
/// the result to REPO and SUPERVISOR.
backfill_actor spawn_backfill(caf::actor_system& system,
                              const backfill_environment& env,
                              const atproto::did& repo, fetch_order order,
                              repo_actor from);

} // namespace weir::actors
