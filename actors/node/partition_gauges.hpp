#pragma once

#include "actors/node/partition.hpp"

#include <memory>
#include <vector>

namespace weir::actors {

/// Adds the figures of the stores, the repos and the CONSUMER to the metrics of
/// the node: sums over its partitions.
/// @param partitions Must live as long as the metrics are read.
void add_partition_gauges(
  const context_ptr& shared,
  const std::vector<std::unique_ptr<partition>>& partitions);

} // namespace weir::actors
