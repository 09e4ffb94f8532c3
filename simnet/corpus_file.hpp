#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/error.hpp"
#include "simnet/options.hpp"

#include <string>
#include <vector>

/// A recorded network: repositories and then live events. Everything is signed
/// already, so a replay costs only the sending.
///
/// # Layout
/// `WEIRNET1`, then CARs and frames as they are sent, then the index, then 48
/// bytes: offset and size of the index (8 bytes each, little-endian) and its
/// SHA-256. The index is one DAG-CBOR array [hosts, accounts, frames]. An
/// account is [did, handle, key, host, rev, head, data, records, offset, size].
/// Frames are one byte string of entries of a fixed size (`frame_place`).
namespace weir::simnet {

/// An account before the live events.
struct corpus_account {
  atproto::did id;
  std::string handle;
  std::string signing_key; ///< As Multikey text.
  size_t host = 0;
  atproto::tid rev;
  atproto::cid head;
  atproto::cid data;
  size_t records = 0;
  uint64_t car_offset = 0;
  uint64_t car_size = 0;
};

/// One live event. It has the relay's number. Hosts use the same frames, so
/// their streams have gaps.
struct frame_place {
  static constexpr size_t encoded_size = 32;

  uint64_t offset = 0;
  int64_t seq = 0;
  uint32_t size = 0;
  uint32_t account = 0;
  /// How many records it adds to the account; may be negative.
  int32_t records = 0;
  bool commit = false;
};

struct corpus_index {
  size_t hosts = 0;
  std::vector<corpus_account> accounts;
  std::vector<frame_place> frames;
};

/// What was written.
struct corpus_summary {
  size_t accounts = 0;
  uint64_t records = 0;
  size_t events = 0;
  uint64_t file_bytes = 0;
};

/// Makes a network and writes it with `events` live events. Handle changes are
/// left out, since the documents of a corpus do not change. Errors:
/// `storage_failure`.
result<corpus_summary> write_corpus(const std::string& path,
                                    network_options options, size_t events);

/// Reads and checks the index. Errors: `malformed`.
result<corpus_index> read_corpus_index(bytes_view file);

} // namespace weir::simnet
