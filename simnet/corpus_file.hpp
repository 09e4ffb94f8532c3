#pragma once

#include "atproto/cid.hpp"
#include "atproto/identifiers.hpp"
#include "base/error.hpp"
#include "simnet/options.hpp"

#include <string>
#include <vector>

/// A network written down: repositories and then live events, all signed, so
/// that replaying them costs nothing but sending.
///
/// # Layout
/// `WEIRNET1`, then CARs and frames as they are, then the index, then 48 bytes:
/// offset and size of the index (8 bytes each, little-endian), its SHA-256. The
/// index is one DAG-CBOR array [hosts, accounts, frames]; an account is [did,
/// handle, key, host, rev, head, data, records, offset, size]; frames are one
/// byte string of fixed entries (`frame_place`).
namespace weir::simnet {

/// An account before the live part.
struct corpus_account {
  atproto::did id;
  std::string handle;
  std::string signing_key; ///< Multikey.
  size_t host = 0;
  atproto::tid rev;
  atproto::cid head;
  atproto::cid data;
  size_t records = 0;
  uint64_t car_offset = 0;
  uint64_t car_size = 0;
};

/// One live event. Numbers are those of the relay, and hosts use the same
/// frames, so their streams have gaps.
struct frame_place {
  static constexpr size_t encoded_size = 32;

  uint64_t offset = 0;
  int64_t seq = 0;
  uint32_t size = 0;
  uint32_t account = 0;
  int32_t records = 0; ///< What it adds to the account's records.
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
/// left out: a corpus has fixed documents. Errors: `storage_failure`.
result<corpus_summary> write_corpus(const std::string& path,
                                    network_options options, size_t events);

/// Reads the index; checks that it is whole. Errors: `malformed`.
result<corpus_index> read_corpus_index(bytes_view file);

} // namespace weir::simnet
