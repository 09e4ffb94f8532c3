#pragma once

#include "actors/consumer/acked_set.hpp"
#include "storage/disk/database.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// The store that has a repo, of a node that does not run, open to be changed.
std::unique_ptr<storage::database> store_of(const std::string& data_dir,
                                            const atproto::did& repo);

/// What a node that is dead has left on disk, in all its stores.
struct store_left {
  /// Opens it to read only. Nothing when the node died before it had made a
  /// store; a test fails when the checker has findings.
  static store_left read(const std::string& data_dir);

  /// The events of a repo up to here count as absent; 0 for most.
  uint64_t erased_through(const std::string& did) const;

  /// By the consumer of `/channel`.
  bool is_acked(uint64_t event) const;
  uint64_t acked_count() const;

  uint64_t repos = 0;
  uint64_t synced = 0;
  uint64_t operations = 0; ///< In the logs.
  std::vector<actors::acked_set> acked; ///< Operations, by partition.
  std::string findings;    ///< Of the checker; should be empty.
  std::map<std::string, uint64_t> erased; ///< Events.
};

} // namespace weir::tests
