#pragma once

#include "actors/consumer/acked_set.hpp"
#include "storage/disk/database.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace weir::tests {

/// Opens the store that has a repo, of a node that does not run, for changes.
std::unique_ptr<storage::database> store_of(const std::string& data_dir,
                                            const atproto::did& repo);

/// What a dead node has left on disk, in all its stores.
struct store_left {
  /// Opens the stores read-only. The result is empty when the node died before
  /// it made a store. The test fails when the checker has findings.
  static store_left read(const std::string& data_dir);

  /// The last event of a repo that counts as erased; 0 for most repos.
  uint64_t erased_through(const std::string& did) const;

  /// Whether the consumer of `/channel` has acked the event.
  bool is_acked(uint64_t event) const;
  uint64_t acked_count() const;

  uint64_t repos = 0;
  uint64_t synced = 0;
  uint64_t operations = 0;              ///< Number of operations in the logs.
  std::vector<actors::acked_set> acked; ///< Acked operations, by partition.
  std::string findings; ///< Findings of the checker; should be empty.
  std::map<std::string, uint64_t> erased; ///< The last erased event, by DID.
};

} // namespace weir::tests
