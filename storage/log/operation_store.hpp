#pragma once

#include "storage/log/apply_request.hpp"
#include "storage/log/operation_reader.hpp"
#include "storage/log/operation_staging.hpp"
#include "storage/log/stored_operation.hpp"

#include <atomic>

namespace weir::storage {

/// What the operations say of an account up to some revision.
struct account_header {
  std::string handle; ///< Verified, or `handle.invalid`.
  account_status account = account_status::active;
  op_id as_of = 0; ///< The last operation that says so.
};

/// A log of operations in streams: read, and append, and nothing else
/// (OPLOG-01). A data directory has one for each partition (`leveldb_store`); a
/// directory of segments is another one (`segment_store`). All of them judge
/// transactions by the same rules, give the same answers, and derive the same
/// hashes (docs/storage-format.md 4).
///
/// # Ids
/// Ids begin with 1, have no gaps, and are given in the order of writing: who
/// reads after an id never misses an operation that is written later.
///
/// # Ownership and threads
/// One thread at a time.
///
/// # Errors
/// Reading: `ec::cancelled`; `ec::storage_failure` on damage. Writing:
/// `apply_outcome`.
class operation_store {
public:
  /// Stages the operations of a transaction. It may read the store.
  using staging = std::function<result<void>(operation_staging& to)>;

  virtual ~operation_store() = default;

  /// Writes one transaction of one repo, in one stream or several: all of it or
  /// nothing (OPLOG-05, OPLOG-09). Streams that are not at the revision that
  /// the request names refuse it, before anything is staged unless the request
  /// is idempotent.
  /// @returns an error only when the store could not be read.
  result<apply_receipt> apply(const apply_request& request,
                              const staging& stage);

  /// What was known of the account when it had `revision` commits; nothing
  /// before its first fact (OPLOG-11). Of the bounds only `cancelled` counts.
  /// @returns `ec::not_found` when that commit was trimmed.
  result<std::optional<account_header>>
  get_header(const atproto::did& repo, uint64_t revision,
             const read_bounds& bounds = {}) const;

  /// The operation with this index (OPLOG-12).
  virtual result<std::optional<stored_operation>>
  get(const stream_name& stream, uint64_t index,
      const read_bounds& bounds = {}) const
    = 0;

  /// The operations of a stream after the index `after`, or from its first one
  /// on (OPLOG-13).
  virtual result<operation_page> get_since(const stream_name& stream,
                                           std::optional<uint64_t> after,
                                           const read_bounds& bounds = {}) const
    = 0;

  /// Those of them whose time is `timestamp_ms` or later (OPLOG-14).
  virtual result<operation_page>
  get_since_time(const stream_name& stream, int64_t timestamp_ms,
                 std::optional<uint64_t> after,
                 const read_bounds& bounds = {}) const
    = 0;

  /// The operations of all streams after the id `after` that fit the filter
  /// (OPLOG-15).
  virtual result<operation_page>
  get_since_id(op_id after, const operation_filter& filter = {},
               const read_bounds& bounds = {}) const
    = 0;

  /// The index that the next operation of the stream gets (OPLOG-31).
  virtual result<uint64_t> next_index(const stream_name& stream) const = 0;

  /// Id of the last operation; 0 when there is none.
  virtual op_id last_id() const = 0;

  /// Everything that was applied before survives a power failure.
  virtual result<void> sync() = 0;

private:
  result<apply_receipt> judge(const apply_request& request,
                              const staging& stage);
  result<std::optional<apply_receipt>>
  check_revisions(const apply_request& request) const;
  result<std::optional<apply_receipt>>
  check_commit(const apply_request& request,
               const std::vector<indexed_operation>& staged) const;
  result<apply_receipt>
  replay(const apply_request& request,
         const std::vector<indexed_operation>& staged) const;
  result<std::optional<stored_operation>>
  last_fact(const stream_name& stream, op_id before,
            const read_bounds& bounds) const;

  /// Writes operations that were judged to fit. Not `done` only when a limit of
  /// this store refuses them.
  virtual result<apply_receipt>
  append(const apply_request& request,
         const std::vector<indexed_operation>& staged)
    = 0;

  std::atomic_flag busy_;
};

} // namespace weir::storage
