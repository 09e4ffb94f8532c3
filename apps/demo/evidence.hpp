#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weir::apps {

/// Value of a metric in a page for Prometheus, summed over all its labels.
/// @param label Counts only lines with this label, such as
/// `result="bad_proof"`.
uint64_t metric_total(std::string_view page, std::string_view name,
                      std::string_view label = {});

/// Checks that the node noticed the faults: it must have counted at least as
/// many of each kind as were injected. Returns one sentence for each kind that
/// it missed.
/// @param page The node's `/metrics`.
std::vector<std::string>
unnoticed_faults(const std::map<std::string, uint64_t>& injected,
                 std::string_view page);

} // namespace weir::apps
