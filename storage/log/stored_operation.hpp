#pragma once

#include "storage/format/log_entry.hpp"
#include "storage/format/values.hpp"
#include "storage/log/limits.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// What the readers of operations give, and how much of it at once.
namespace weir::storage {

/// A stream: the operations of one scope of a repo, in order (OPLOG-27).
struct stream_name {
  atproto::did repo;
  std::string scope; ///< The NSID of a collection, or a `$` scope.
  uint16_t branch = main_branch;
};

/// What is there of the bytes that an operation wrote.
enum class content_state : uint8_t {
  present,
  none,    ///< No bytes were stored; so it is with every deletion.
  invalid, ///< The record could not be decoded, so it was not stored.
  erased,  ///< The account was deleted or the repo removed since.
  deleted, ///< A later operation replaced or deleted the version of the record,
           ///< and its bytes were erased after `log_retention` (CONTENT-08).
};

/// "present", "none", "invalid", "erased" or "deleted".
const char* to_string(content_state x) noexcept;

/// What is derived from an operation and those before it in its stream
/// (storage-format.md 4).
struct operation_hashes {
  atproto::digest operation{}; ///< The op_id is this digest as a multihash.
  /// The operation before it in its stream (OPLOG-25); nothing for the first
  /// one, and when that one was trimmed.
  std::optional<atproto::digest> previous;
  atproto::digest stream{}; ///< Hash of the stream up to this operation.
};

/// What the operations of one transaction have in common.
struct stored_transaction : log_envelope {
  /// The commit that the transaction is; undefined when it has none.
  atproto::cid commit;
  op_id first = 0; ///< Id of its first operation.
  size_t ops = 0;  ///< Number of its operations.
};

/// One operation as the store has it.
struct stored_operation {
  op_id id = 0;
  std::shared_ptr<const stored_transaction> in;
  std::string scope; ///< Empty when nobody has records of the collection now.
  uint64_t index = 0;
  uint32_t skip = 0;
  atproto::op_action action = atproto::op_action::create;
  std::string rkey;
  atproto::cid cid;
  /// Nothing for an erased operation of a collection: its neighbours and the
  /// name of the collection may be gone.
  std::optional<operation_hashes> hashes;
  content_state content = content_state::none;
  shared_bytes body; ///< Empty unless it is present and was asked for.

  /// The time that the account signed (OPLOG-28), rounded towards zero.
  int64_t timestamp_ms() const noexcept { return in->time_us / 1000; }

  /// The time when the store wrote it (OPLOG-26).
  int64_t written_ms() const noexcept { return in->written_us / 1000; }
};

/// Bounds of one call that reads operations.
struct read_bounds {
  size_t ops_max = limits::log_page_ops_max; ///< Operations that it returns.
  /// Bytes of their bodies; but one operation is always returned.
  size_t bytes_max = limits::log_page_bytes_max;
  /// Operations that it looks at, whether it returns them or not.
  size_t looked_max = limits::operations_looked_max;
  bool with_content = true;
  /// Asked before each block. When it says true, the call ends with
  /// `ec::cancelled` (OPLOG-16). Empty: it is never cancelled.
  std::function<bool()> cancelled = {};
};

/// Operations in order.
struct operation_page {
  std::vector<stored_operation> found;
  /// The last operation that was looked at: its id, or its index where one
  /// stream is read. The next page begins after it.
  uint64_t through = 0;
  /// There are operations after `through` to look at. A page may be empty and
  /// have more, when none of those that it looked at fits a filter.
  bool more = false;
};

} // namespace weir::storage
