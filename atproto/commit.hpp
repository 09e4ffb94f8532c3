#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"

namespace weir::atproto {

/// The signed commit object of a repository, version 3
/// (protocol-coverage.md 2.3).
struct commit_object {
  did repo;
  tid rev;
  cid data; ///< MST root; blessed dag-cbor.
  cid prev; ///< Undefined when null.
  signature sig{};
};

/// Decodes a commit block strictly. Unknown keys are allowed: they are part of
/// the signed bytes and ignored otherwise.
result<commit_object> decode_commit(bytes_view block);

/// The bytes the signature covers: the block without its `sig` entry, cut out
/// of the original bytes so that unknown fields survive.
result<bytes> unsigned_commit_bytes(bytes_view block);

/// True when the block's signature was made by `key`.
bool check_commit_signature(bytes_view block, const public_key& key);

/// Encodes and signs; for the simulated network and tests.
bytes encode_signed_commit(commit_object x, const private_key& key);

} // namespace weir::atproto
