#pragma once

#include "tests/system/hostile_host.hpp"
#include "tests/system/live_repo.hpp"

#include <cstddef>

namespace weir::tests {

/// A sound repo of any size whose CAR is made while it is sent.
///
/// # Limits
/// Holds its tree: some 200 bytes a record, no record.
class streamed_repo {
public:
  /// Records of about a kilobyte each; the CAR has about so many bytes.
  static streamed_repo of_bytes(size_t car_bytes);

  /// So many records with one content, 85 bytes of the CAR each: the most that
  /// a CAR can have.
  static streamed_repo of_records(size_t count);

  const test_repo& account() const noexcept { return account_; }

  size_t records() const noexcept { return records_; }

  size_t car_bytes() const noexcept { return front_.size() + body_bytes_; }

  /// The answer to getRepo, made anew for every request. The repo outlives the
  /// host.
  hostile_host::script script() const;

private:
  streamed_repo(size_t records, size_t contents);

  size_t records_;
  size_t contents_; ///< The first so many records have each their own.
  size_t body_bytes_ = 0;
  live_repo account_;
  bytes front_; ///< Header, commit and nodes.
};

} // namespace weir::tests
