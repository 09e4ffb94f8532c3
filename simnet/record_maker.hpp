#pragma once

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/random.hpp"

#include <span>
#include <string>
#include <string_view>

namespace weir::simnet {

/// A record that wants to be stored.
struct new_record {
  std::string path;
  bytes block; ///< DAG-CBOR.
};

/// Makes records shaped like those of the network: 55% likes, 20% follows, 10%
/// reposts, 15% posts and odd ones, 224 bytes on average; record keys are TIDs,
/// and text in the odd collections.
///
/// # Ownership and threads
/// Borrows the DIDs. Read-only; the random source belongs to the caller.
class record_maker {
public:
  /// @param dids Whom records may speak of; not empty.
  /// @param unsafe Also floats and integers beyond 2^53.
  explicit record_maker(std::span<const std::string> dids, bool unsafe = false)
    : dids_(dids), unsafe_(unsafe) {
    // nop
  }

  /// A record of any kind, dated `when`, which also makes its key.
  new_record make(random_source& random, wall_time when) const;

  /// The one profile of an account.
  new_record make_profile(random_source& random, wall_time when) const;

  /// Other content for a record that exists.
  bytes remake(random_source& random, wall_time when,
               std::string_view path) const;

private:
  std::span<const std::string> dids_;
  bool unsafe_;
};

} // namespace weir::simnet
