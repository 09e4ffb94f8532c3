#pragma once

#include "apps/weir/web_client.hpp"
#include "storage/format/limits.hpp"
#include "storage/verify/verify.hpp"

#include <string>

namespace weir::apps {

struct host_check_options {
  std::string origin; ///< Of a PDS or a relay.
  /// Origin of a directory. With it a repo that the key known here does not
  /// prove is tried with the key of its document, and a tombstone is asked for
  /// anew.
  std::string directory;
  /// What may have happened at the host since the store was closed, what was
  /// still to be done here, and what the host cannot prove itself, is a
  /// finding, too.
  bool strict = false;
  /// The node follows every account: one that is not known here is a finding.
  bool full_network = false;
  size_t findings_max = limits::findings_max;
};

struct host_check_report : storage::verify_report {
  /// Repos and accounts that the host has a newer revision of, from after what
  /// the node's streams have passed: named, and no findings unless `strict`. At
  /// most `findings_max`; the count "newer at the host" has all.
  std::vector<storage::verify_finding> newer;
  /// Repos of which nothing is wrong and something was still to be done when
  /// the store was closed: named, and no findings unless `strict`. At most
  /// `findings_max`; the counts "not fetched yet" and "gone at the host" have
  /// all.
  std::vector<storage::verify_finding> unfinished;
};

/// Compares every synced repo of a store with what a host has now, and the
/// accounts of the one with those of the other: architecture.md I9. What
/// differs is a finding: records, a revision that the host had before the time
/// that the node claims its streams have passed, a repo that the key known here
/// does not prove, the state of an account, an account that is tracked and has
/// no row, and with `full_network` any that has none. So is a repo that the
/// host offers and that has no true copy here (`error` and `desync`), and one
/// of which we keep records that the host has no more.
///
/// Counts "repos compared", "records compared", "of other hosts" (the host is a
/// PDS and not theirs), "not in sync here", "not active here", and what proves
/// nothing of the store:
///
/// * "newer at the host", "unproved at the host", "not fetched yet" (`pending`
///   and `syncing`), "gone at the host" (an account that is not active here,
///   and of which no records are kept): findings when `strict`;
/// * "removed here", "not followed here", "taken down by another relay" (the
///   host's own word is known, and the same), "tombstoned by the directory" (it
///   was asked, and says so still; not asked, a tombstone of an account that is
///   active at the host is a finding).
///
/// # Limits
/// One repo at a time; memory of `atproto::repo_walk`, the rest in a file
/// without a name below the temporary directory.
result<host_check_report>
check_against_host(const storage::database& db, web_client& web,
                   const host_check_options& options);

} // namespace weir::apps
