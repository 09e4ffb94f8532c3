#include "apps/demo/evidence.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <initializer_list>

namespace weir::apps {

namespace {

/// Faults with the same effect, and the metric that shows it.
struct trace {
  std::initializer_list<std::string_view> faults;
  std::string_view metric;
  std::initializer_list<std::string_view> labels;
  uint64_t before = 0; ///< What the metric shows without faults.
};

const std::array traces{
  trace{
    {"bad_signature"}, "weir_repo_events_total", {R"(result="bad_signature")"}},
  trace{{"broken_chain", "wrong_prev_data"},
        "weir_repo_events_total",
        {R"(result="chain_broken")", R"(result="bad_proof")"}},
  trace{
    {"take_down", "suspend", "restore", "deactivate", "reactivate", "remove"},
    "weir_repo_events_total",
    {R"(result="account_changed")"}},
  trace{{"change_handle"},
        "weir_repo_events_total",
        {R"(result="identity_changed")"}},
  trace{{"drop_connection", "lose_window", "lose_silently"},
        "weir_upstream_dials_total",
        {""},
        1},
  trace{{"failing_repo", "cut_repo", "rate_limit"},
        "weir_backfill_finished_total",
        {R"(result="failed")"}},
  trace{{"directory_down", "directory_refuse"},
        "weir_identity_failures_total",
        {""}},
};

} // namespace

uint64_t metric_total(std::string_view page, std::string_view name,
                      std::string_view label) {
  uint64_t out = 0;
  while (!page.empty()) {
    const auto end = std::min(page.find('\n'), page.size());
    const auto line = page.substr(0, end);
    page.remove_prefix(std::min(end + 1, page.size()));
    const auto value = line.rfind(' ');
    if (!line.starts_with(name) || value == std::string_view::npos
        || (line[name.size()] != '{' && line[name.size()] != ' ')
        || line.find(label) == std::string_view::npos)
      continue;
    out += static_cast<uint64_t>(
      std::strtod(std::string{line.substr(value)}.c_str(), nullptr));
  }
  return out;
}

std::vector<std::string>
unnoticed_faults(const std::map<std::string, uint64_t>& injected,
                 std::string_view page) {
  std::vector<std::string> out;
  for (const auto& each : traces) {
    uint64_t wanted = each.before;
    std::string names;
    for (const auto fault : each.faults)
      if (const auto found = injected.find(std::string{fault});
          found != injected.end()) {
        wanted += found->second;
        names.append(names.empty() ? "" : ", ").append(fault);
      }
    uint64_t seen = 0;
    for (const auto label : each.labels)
      seen += metric_total(page, each.metric, label);
    if (seen < wanted && !names.empty())
      out.push_back("the node counted " + std::to_string(seen) + " of "
                    + std::to_string(wanted) + " for " + names);
  }
  return out;
}

} // namespace weir::apps
