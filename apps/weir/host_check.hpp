#pragma once

#include "apps/weir/web_client.hpp"
#include "base/limits.hpp"
#include "storage/verify.hpp"

#include <string>

namespace weir::apps {

struct host_check_options {
  std::string origin; ///< Of a PDS or a relay.
  /// A repo that the host moved on, or cannot prove itself, is a finding, too.
  bool strict = false;
  /// Only some collections are kept: what is absent here is no finding.
  bool filtered = false;
  size_t findings_max = limits::findings_max;
};

/// Compares every synced repo of a store with what a host has now: invariant
/// I9 (architecture.md 8). Counts "repos compared", "records compared", and
/// what could not be compared: "behind", "unproved at the host", "not at the
/// host", "not in sync here".
///
/// # Limits
/// One repo at a time; memory of `atproto::repo_walk`, the rest in a file
/// without a name below the temporary directory.
result<storage::verify_report>
check_against_host(const storage::database& db, web_client& web,
                   const host_check_options& options);

} // namespace weir::apps
