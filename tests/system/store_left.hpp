#pragma once

#include "actors/consumer/acked_set.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace weir::tests {

/// What a node that is dead has left on disk.
struct store_left {
  /// Opens it to read only. Nothing when the node died before it had made a
  /// store; a test fails when the checker has findings.
  static store_left read(const std::string& data_dir);

  /// The operations of a repo up to here count as absent; 0 for most.
  uint64_t erased_through(const std::string& did) const;

  uint64_t repos = 0;
  uint64_t synced = 0;
  uint64_t operations = 0; ///< In the log.
  actors::acked_set acked; ///< By the consumer of `/channel`.
  std::string findings;    ///< Of the checker; should be empty.
  std::map<std::string, uint64_t> erased;
};

} // namespace weir::tests
