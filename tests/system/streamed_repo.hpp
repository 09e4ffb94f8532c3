#pragma once

#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"

#include <cstddef>

namespace weir::tests {

/// A valid repo of any size whose CAR is made while it is sent.
///
/// # Limits
/// Keeps its tree in memory, about 200 bytes a record, but no record.
class streamed_repo {
public:
  /// A repo with records of about a kilobyte each; its CAR has about
  /// `car_bytes`.
  static streamed_repo of_bytes(size_t car_bytes);

  /// A repo of `count` records that all have the same content. Each takes 85
  /// bytes of the CAR, so these are the most records that a CAR can have.
  static streamed_repo of_records(size_t count);

  const test_repo& account() const noexcept { return account_; }

  size_t records() const noexcept { return records_; }

  size_t car_bytes() const noexcept { return front_.size() + body_bytes_; }

  /// The answer to getRepo, which is made for every request. The repo must
  /// outlive the host.
  hostile_host::script script() const;

private:
  streamed_repo(size_t records, size_t contents);

  size_t records_;
  /// Only the first records, this many, have different contents.
  size_t contents_;
  size_t body_bytes_ = 0;
  live_repo account_;
  bytes front_; ///< Header, commit and nodes.
};

} // namespace weir::tests
