#pragma once

#include "storage/format/key_codec.hpp"
#include "storage/segments/limits.hpp"
#include "storage/segments/segment_transaction.hpp"

#include <map>
#include <optional>
#include <vector>

namespace weir::storage {

/// The end of one stream of a directory of segments.
struct segment_head {
  uint64_t next_index = 0;
  atproto::digest hash{};
  atproto::digest operation{}; ///< Digest of the last operation.
  op_id first = 0;             ///< Frame of its first operation.
  op_id last = 0;              ///< Frame of its last operation.
};

/// The ends of all streams, rebuilt from the frames when a directory is opened.
///
/// # Limits
/// `streams_max` streams, about 160 bytes each.
class segment_heads {
public:
  explicit segment_heads(size_t streams_max) : streams_max_(streams_max) {}

  /// The end of a stream; null when it has no operations. Valid until the next
  /// `advance`.
  const segment_head* find(const atproto::did& repo,
                           std::string_view scope) const;

  /// Whether the streams of `x` that are new have room.
  bool fits(const segment_transaction& x) const;

  /// Follows a transaction.
  /// @param first Id of its first operation.
  /// @returns `ec::storage_failure` when its streams do not begin where these
  /// ended, or its hashes are not those of its operations;
  /// `ec::limit_reached` beyond the limit.
  result<void> advance(op_id first, const segment_transaction& x);

private:
  size_t streams_max_;
  std::map<short_hash, segment_head> heads_;
};

/// Hashes of one operation of a transaction.
struct segment_hashes {
  uint64_t index = 0;
  atproto::digest operation{};
  std::optional<atproto::digest> before; ///< Nothing at index 0.
  atproto::digest stream{};
};

/// Derives the hashes of all its operations from what its streams were before.
std::vector<segment_hashes> hashes_of(const segment_transaction& x);

} // namespace weir::storage
