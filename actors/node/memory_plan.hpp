#pragma once

#include "actors/backfill/limits.hpp"
#include "atproto/limits.hpp"

#include <cstddef>

namespace weir::actors {

struct node_config;

/// How a node divides `memory_limit` (architecture.md, When memory runs short):
/// every size that depends on it. Each part is a share of the limit and never
/// more than its bound in a limits*.hpp. All parts together are 31 of 32; the
/// rest is for the program itself.
struct memory_plan {
  // -- LevelDB and its writer, of each partition
  size_t write_buffer = 0; ///< There are two.
  size_t block_cache = 0;
  size_t table_bytes = 0; ///< Size of one file.
  size_t repo_guards = 0; ///< Repos that the JOURNAL remembers.
  size_t tables = 0;      ///< Number of tables whose index is in memory.
  size_t names = 0;       ///< Names of collections.
  size_t tail_cache = 0;

  size_t delivery = 0; ///< Maximum of a consumer's window, in total.

  // -- what arrives -----------------------------------------------------------
  size_t upstream_window = 0; ///< Bytes in flight of each stream.
  size_t upstream_frames = 0; ///< Frames in flight of each stream.
  size_t requests = 0;        ///< Bodies of clients.
  size_t repos = 0;           ///< REPOs and what they hold.
  size_t document_waits = 0; ///< Part of `repos`, for such frames.
  size_t identities = 0; ///< Number of identities in the cache.
  /// Number of identities looked up at once; each may keep a REPO awake.
  size_t identity_waits = 0;
  size_t lookup_failures = 0; ///< Failed look-ups that are remembered.
  size_t fetch_queue = 0; ///< Repos in the queue of fetches.
  size_t fetch_hosts = 0; ///< Hosts that are remembered without repos in it.
  size_t census = 0;          ///< DIDs of the listing of each upstream.
  size_t claims = 0; ///< Claims from listings alone; streams have more.
  size_t questions = 0; ///< Questions to hosts about accounts.
  size_t answers = 0; ///< Answers of hosts that are remembered.

  // -- one fetch
  size_t spool = 0;         ///< A larger CAR is in a file.
  size_t index_entries = 0; ///< Blocks of a CAR; more are in a file.
  size_t chunks = 0;        ///< Bytes on their way to the JOURNAL.
};

/// @pre the numbers of `config` are in their ranges
memory_plan plan_memory(const node_config& config);

/// Memory of all fetches besides their spools, and the minimum for one.
size_t fetch_bytes(const node_config& config) noexcept;

/// The least memory limit whose part for fetches is enough for `count` fetches.
size_t memory_for_fetches(size_t count) noexcept;
constexpr size_t fetch_bytes_min
  = limits::fetch_window_bytes + limits::chunk_bytes_max
    + limits::walk_index_run_entries * 2 * sizeof(uint64_t);

} // namespace weir::actors
