#pragma once

#include "atproto/limits.hpp"
#include "atproto/spool.hpp"
#include "atproto/verify.hpp"

#include <functional>
#include <memory>

namespace weir::atproto {

/// One record of a repository during a walk. Borrowed until the next step.
struct walked_record {
  std::string_view path;
  cid id;
  bytes_view block; ///< Empty when `undecodable`.
  bool undecodable = false;
};

/// Limits of one walk. The defaults are those of `limits.hpp`.
struct walk_limits {
  uint64_t car_bytes_max = limits::repo_car_bytes_max;
  uint64_t car_blocks_max = limits::repo_car_blocks_max;
  uint64_t records_max = limits::repo_records_max;
  size_t index_entries_max = limits::walk_index_entries_max;
  size_t index_run_entries = limits::walk_index_run_entries;
};

/// Verifies the export of a whole repository (protocol-coverage.md 5). Feed it
/// the CAR in chunks of any size, then step through the tree. Records come out
/// sorted by path. Do not act on them before the walk has ended without an
/// error: until then the repository is not proved complete.
///
/// # Limits
/// Bytes and blocks of the CAR, records, and depth. A block is visited at most
/// once. Memory: the block index (16 bytes for each block, at most 16 MiB; the
/// rest goes to the index spool) and one node for each depth. No call takes
/// longer than its chunk or its `records_max` need, plus some milliseconds.
///
/// # Threads
/// One thread at a time; it may be another one for each call.
///
/// # Errors
/// `ec::malformed` and `ec::verification_failed` mean that the repository is at
/// fault. `ec::limit_reached` names the limit. Others come from the spools.
/// After an error every further call fails with the same one.
class repo_walk {
public:
  /// @param store Receives the bytes of the CAR; outlives the walk.
  /// @param index_overflow Receives the block index when it outgrows memory. It
  /// is another spool than `store` and outlives the walk.
  repo_walk(did expected, spool& store, spool& index_overflow,
            const walk_limits& bounds = {});
  ~repo_walk();

  repo_walk(repo_walk&&) = delete;
  repo_walk(const repo_walk&) = delete;
  repo_walk& operator=(repo_walk&&) = delete;
  repo_walk& operator=(const repo_walk&) = delete;

  /// Takes the next bytes of the body and hashes every block.
  result<void> feed(bytes_view chunk);

  /// Call this at the end of the body. Checks the header, the root commit and
  /// its signature.
  verified<verified_root> finish(const public_key& key, wall_time now);

  /// Visits up to `records_max` more records. Returns true when the whole tree
  /// was visited, and only then is the repository proved. On a huge repository
  /// the first calls only prepare the index and visit nothing.
  /// @pre `finish` succeeded
  result<bool> step(size_t records_max,
                    const std::function<void(const walked_record&)>& visit);

  /// Keys visited since the beginning or the last `rewind` that are no valid
  /// repo path. They belong to the tree but are not given to `visit`
  /// (protocol-coverage.md 5.1).
  uint64_t skipped() const noexcept;

  uint64_t bytes_fed() const noexcept;

  /// Begins the visit again, for a second pass after the first one proved the
  /// tree.
  void rewind();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::atproto
