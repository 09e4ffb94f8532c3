#pragma once

#include "storage/log/operation_store.hpp"

/// Copies the log of one store into others, transaction by transaction
/// (OPLOG-02). Streams keep their operations, indices and hashes, which is
/// checked for each transaction. Ids and write times are those of the target.
namespace weir::storage {

struct copy_options {
  /// The store for the operations of a repo; null leaves them out.
  std::function<result<operation_store*>(const atproto::did& repo)> target;
  /// Asked before each transaction. Empty: it is never cancelled.
  std::function<bool()> cancelled = {};
};

struct copy_counts {
  uint64_t transactions = 0; ///< Those that were written.
  uint64_t operations = 0;   ///< The same.
  uint64_t present = 0;      ///< Operations that the target had already.
  uint64_t left_out = 0;     ///< Operations without a target.
};

/// Copies all operations. What a target has already is not written again, so a
/// copy that was interrupted can be made once more. Nothing is durable before
/// the target is synced. One transaction is in memory, and one page of reading.
///
/// # Errors
/// `ec::cancelled`; `ec::storage_failure` when one of the stores fails;
/// `ec::invalid_argument` when a target has something else at the place of an
/// operation; `ec::verification_failed` when a stream gets another hash.
result<copy_counts> copy_operations(const operation_store& from,
                                    const copy_options& options);

} // namespace weir::storage
