#pragma once

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

#include <span>
#include <string>
#include <string_view>

namespace weir::simnet {

/// A record to store.
struct new_record {
  std::string path;
  bytes block; ///< DAG-CBOR.
};

/// Makes records like those of the real network: 55% likes, 20% follows, 10%
/// reposts, 15% posts and unusual ones, with 224 bytes on average. Record keys
/// are TIDs; in the unusual collections they are texts.
///
/// # Ownership and threads
/// Borrows the DIDs. Immutable; the random source belongs to the caller.
class record_maker {
public:
  /// @param dids The accounts that records may refer to; not empty.
  /// @param unsafe Also makes floats and integers beyond 2^53.
  explicit record_maker(std::span<const std::string> dids, bool unsafe = false)
    : dids_(dids), unsafe_(unsafe) {}

  /// Makes a record of any kind. Its date and its key come from `when`.
  new_record make(random_source& random, wall_time when) const;

  /// Makes the profile of an account; each has one.
  new_record make_profile(random_source& random, wall_time when) const;

  /// Makes other content for an existing record.
  bytes remake(random_source& random, wall_time when,
               std::string_view path) const;

private:
  std::span<const std::string> dids_;
  bool unsafe_;
};

} // namespace weir::simnet
