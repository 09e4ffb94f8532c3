#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// Value of a metric in the text that Prometheus reads, summed over all its
/// labels.
/// @param label `result="bad_proof"` counts only lines that have it.
uint64_t metric_total(std::string_view page, std::string_view name,
                      std::string_view label = {});

/// Whether the node noticed what was done to it: it must have counted at least
/// as much of each kind as was injected. One sentence for each that it missed.
/// @param page Answer of the node's `/metrics`.
std::vector<std::string>
unnoticed_faults(const std::map<std::string, uint64_t>& injected,
                 std::string_view page);

} // namespace weir::apps
