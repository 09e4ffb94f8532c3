#pragma once

#include "atproto/limits.hpp"
#include "atproto/spool.hpp"
#include "atproto/verify.hpp"

#include <functional>
#include <memory>

namespace weir::atproto {

/// One record of a walked repository. Borrowed until the next step.
struct walked_record {
  std::string_view path;
  cid id;
  bytes_view block; ///< Empty when `undecodable`.
  bool undecodable = false;
};

/// Bounds of one walk; the defaults are those of `limits.hpp`.
struct walk_limits {
  uint64_t car_bytes_max = limits::repo_car_bytes_max;
  uint64_t car_blocks_max = limits::repo_car_blocks_max;
  uint64_t records_max = limits::repo_records_max;
  size_t index_entries_max = limits::walk_index_entries_max;
  size_t index_run_entries = limits::walk_index_run_entries;
};

/// Verifies a whole repository export (protocol-coverage.md 5): feed the CAR in
/// any chunks, then step through the tree. Records come out sorted by path and
/// may be used only after the walk ended without error: until then nothing is
/// proved complete.
///
/// # Limits
/// CAR bytes, blocks, records and depth of `limits.hpp`; every block is visited
/// at most once. Memory: the block index (8 bytes of digest and 8 of place
/// each, 16 MiB at most, the rest in the index spool) plus one node a depth.
/// No call works longer than its chunk, `records_max` or some milliseconds.
///
/// # Threads
/// One thread at a time; may move between calls.
///
/// # Errors
/// `ec::malformed` and `ec::verification_failed` blame the repository,
/// `ec::limit_reached` names the bound, others come from the spools. After an
/// error every further call fails with it.
class repo_walk {
public:
  /// @param store Where the bytes go; outlives the walk.
  /// @param index_overflow Where the block index goes when it outgrows memory;
  /// another spool than `store`, outlives the walk.
  repo_walk(did expected, spool& store, spool& index_overflow,
            const walk_limits& bounds = {});
  ~repo_walk();

  repo_walk(repo_walk&&) = delete;
  repo_walk(const repo_walk&) = delete;
  repo_walk& operator=(repo_walk&&) = delete;
  repo_walk& operator=(const repo_walk&) = delete;

  /// More bytes of the body; hashes every block.
  result<void> feed(bytes_view chunk);

  /// The body is complete: checks header, root commit and its signature.
  verified<verified_root> finish(const public_key& key, wall_time now);

  /// Visits up to `records_max` more records. Returns true when the whole tree
  /// was visited: only then the repository is proved. The first calls on a huge
  /// repository prepare the index and visit nothing.
  /// @pre `finish` succeeded
  result<bool> step(size_t records_max,
                    const std::function<void(const walked_record&)>& visit);

  /// Visited since the beginning or the last `rewind`.
  uint64_t records() const noexcept;

  /// Keys that are no valid repo path, since the same: part of the tree, never
  /// visited (protocol-coverage.md 5.1).
  uint64_t skipped() const noexcept;

  uint64_t bytes_fed() const noexcept;

  /// Starts the visit anew, for a second pass after the first one proved it.
  void rewind();

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace weir::atproto
