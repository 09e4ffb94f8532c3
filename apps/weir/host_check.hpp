#pragma once

#include "apps/weir/closed_stores.hpp"
#include "apps/weir/web_client.hpp"
#include "storage/disk/limits.hpp"
#include "storage/verify/verify.hpp"

#include <string>

namespace weir::apps {

struct host_check_options {
  std::string origin; ///< The PDS or relay.
  /// Origin of a directory. With it, a repo that is not proved by the key known
  /// here is tried with the key of its present document, and a tombstone is
  /// checked again.
  std::string directory;
  /// Findings also tell what may have happened at the host after the store was
  /// closed, what was still to be done here, and what the host cannot prove
  /// itself.
  bool strict = false;
  /// The node follows every account, so an account unknown here is a finding.
  bool full_network = false;
  size_t findings_max = limits::findings_max;
};

struct host_check_report : storage::verify_report {
  /// Repos and accounts that changed at the host after the time up to which the
  /// node claims to have everything. They are listed but are no findings unless
  /// `strict`. At most `findings_max`; the count "newer at the host" has all.
  std::vector<storage::verify_finding> newer;
  /// Repos that are correct but were not finished when the store was closed.
  /// They are listed but are no findings unless `strict`. At most
  /// `findings_max`; the counts "not fetched yet" and "gone at the host" have
  /// all.
  std::vector<storage::verify_finding> unfinished;
};

/// Compares every synced repo of a store with the same repo at a host, and the
/// accounts of both: invariant I9 (docs/architecture.md). These differences are
/// findings:
///
/// * other records;
/// * a revision that the host had before the time up to which the node claims
///   to have everything;
/// * a repo that is not proved by the key known here;
/// * another state of an account;
/// * an account that is tracked and has no row, and with `full_network` any
///   without a row;
/// * a repo that the host serves and that has no true copy here (`error`,
///   `desync`);
/// * a repo whose records are kept here and that the host no longer has.
///
/// Counts "repos compared", "records compared", "of other hosts" (not at home
/// at this PDS), "not in sync here", "not active here", and what proves nothing
/// about the store:
///
/// * "newer at the host", "unproved at the host", "not fetched yet" (`pending`
///   and `syncing`), "gone at the host" (not active here, without records):
///   findings if `strict`;
/// * "removed here", "not followed here", "taken down by another relay" (while
///   the host's own state is the same here), "tombstoned by the directory" (it
///   still says so; without a directory, a tombstone of an account that is
///   active at the host is a finding).
///
/// # Limits
/// One repo at a time; the memory of `atproto::repo_walk`, and the rest in an
/// unnamed file in the temporary directory.
result<host_check_report> check_against_host(const closed_stores& stores,
                                             web_client& web,
                                             const host_check_options& options);

} // namespace weir::apps
