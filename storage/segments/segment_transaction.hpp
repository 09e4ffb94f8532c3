#pragma once

#include "storage/format/update.hpp"

#include <optional>
#include <string>
#include <vector>

namespace weir::storage {

/// What one transaction appends to one stream, on the branch main.
struct segment_stream {
  std::string scope;
  uint64_t index = 0;         ///< That of its first operation here.
  atproto::digest previous{}; ///< Hash of the stream before; zeros at first.
  /// Digest of the operation before; nothing at the first one.
  std::optional<atproto::digest> before;
  atproto::digest hash{}; ///< Hash of the stream after the transaction.

  bool operator==(const segment_stream&) const = default;
};

struct segment_operation {
  uint32_t stream = 0; ///< Index into `segment_transaction::streams`.
  atproto::op_action action = atproto::op_action::create;
  bool undecodable = false;
  std::string rkey;
  atproto::cid id;
  shared_bytes body; ///< Empty for a deletion, or a record that is undecodable.
};

/// One transaction as a segment has it (docs/segment-format.md 3). The id of
/// its first operation is in its frame; `events_before` is not kept.
struct segment_transaction : log_envelope {
  std::vector<segment_stream> streams;
  std::vector<segment_operation> ops;
};

/// Encodes it as canonical DAG-CBOR.
bytes encode_transaction(const segment_transaction& x);

/// Decodes what `encode_transaction` wrote; bodies are slices of `payload`.
/// Never throws and checks every bound.
///
/// # Errors
/// `ec::storage_failure`.
result<segment_transaction> decode_transaction(const shared_bytes& payload);

} // namespace weir::storage
