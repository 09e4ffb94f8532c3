#pragma once

#include "atproto/dag_cbor.hpp"
#include "storage/format/records.hpp"
#include "storage/format/update.hpp"

/// Values that are derived from the log and not stored: identities of
/// operations, the hash of every stream, the chain over log blocks (OPLOG-06,
/// OPLOG-24, docs/storage-format.md 4). They are pure functions of envelopes
/// and CIDs and never depend on the bytes of records.
namespace weir::storage {

/// The fields that identify an operation, equal on every node.
struct operation_identity {
  std::string_view did;
  atproto::tid rev; ///< Undefined for `$identity` and `$account`.
  std::string_view scope;
  std::string_view rkey;
  atproto::op_action action = atproto::op_action::create;
  const atproto::cid* id = nullptr;    ///< Null or undefined on delete.
  std::optional<uint64_t> origin = {}; ///< See `origin_of`.
};

/// Returns nothing for operations of a commit, the resync id for those of a
/// resync, and the stream index for `$` scopes other than `$commit`.
std::optional<uint64_t> origin_of(std::string_view scope, provenance from,
                                  uint64_t job, uint64_t index) noexcept;

/// The op_id: the digest of an operation as a multihash, in hexadecimal digits
/// (OPLOG-24).
std::string op_id_text(const atproto::digest& operation);

/// One operation with the fields that its stream's hash covers.
struct stream_step {
  std::string_view did;
  std::string_view scope;
  uint16_t branch = 0;
  uint64_t index = 0;
  uint32_t skip = 0;
  atproto::digest operation{}; ///< `log_hasher::operation`.
  atproto::digest previous{};  ///< Hash of the stream before; zeros at index 0.
  int64_t timestamp_ms = 0;
  atproto::op_action action = atproto::op_action::create;
  std::string_view rkey;
  const atproto::cid* id = nullptr;
};

/// Computes digests and keeps its buffer between calls. One thread.
class log_hasher {
public:
  /// SHA-256 over the canonical DAG-CBOR of [did, rev | null, scope, rkey,
  /// action, cid | null, origin].
  atproto::digest operation(const operation_identity& x);

  /// SHA-256 over the canonical DAG-CBOR of {v, opId, prev, skip, index,
  /// action, stream, timestampUtcMs}.
  atproto::digest stream(const stream_step& x);

private:
  atproto::cbor::writer out_;
};

/// The name of a branch in hashes and for others: "main", "denied", "fork/0",
/// ...
std::string branch_name(uint16_t branch);

/// Hash of a log block, which the next block of the partition contains: SHA-256
/// over the partition, the first id (both big-endian) and the stored value.
atproto::digest block_hash(uint16_t partition, op_id first,
                           std::string_view value);

} // namespace weir::storage
