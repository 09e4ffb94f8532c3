#pragma once

#include "atproto/identifiers.hpp"
#include "atproto/signature.hpp"

namespace weir::atproto {

/// The signed commit object of a repository, version 3 (protocol-coverage.md
/// 2.3).
struct commit_object {
  did repo;
  tid rev;
  cid data; ///< Root of the MST; a blessed dag-cbor CID.
  cid prev; ///< Undefined when the field is null.
  signature sig{};
};

/// Decodes a commit block strictly. Unknown keys are allowed; they are ignored
/// but belong to the signed bytes.
result<commit_object> decode_commit(bytes_view block);

/// True when the block's signature was made by `key`. It covers the block
/// without its `sig` entry, cut out of the original bytes, so that unknown
/// fields are signed, too.
bool check_commit_signature(bytes_view block, const public_key& key);

/// Encodes and signs a commit, for the simulated network and for tests.
bytes encode_signed_commit(commit_object x, const private_key& key);

} // namespace weir::atproto
