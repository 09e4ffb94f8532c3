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
  /// The node follows every account: one that is not known here is a finding.
  bool full_network = false;
  size_t findings_max = limits::findings_max;
};

/// Compares every synced repo of a store with what a host has now, and the
/// accounts of the one with those of the other: invariant I9 (architecture.md
/// 8). Counts "repos compared", "records compared", "of other hosts" (the host
/// is a PDS and not theirs), and what proves nothing of the store:
///
/// * "behind", "unproved at the host", "not at the host", "inactive at the
///   host", "active at the host", "new at the host" since the store was written
///   last: findings when `strict`;
/// * "not in sync here", "removed here", "not followed here".
///
/// An account that is tracked and has no row is always a finding; one that
/// nobody asked to track only with `full_network`.
///
/// # Limits
/// One repo at a time; memory of `atproto::repo_walk`, the rest in a file
/// without a name below the temporary directory.
result<storage::verify_report>
check_against_host(const storage::database& db, web_client& web,
                   const host_check_options& options);

} // namespace weir::apps
