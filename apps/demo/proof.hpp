#pragma once

#include "apps/demo/copy.hpp"
#include "apps/demo/network.hpp"
#include "apps/weir/closed_stores.hpp"
#include "simnet/truth.hpp"

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace weir::apps {

/// How the copies differ from the network.
struct comparison {
  uint64_t active = 0; ///< Accounts whose every record must be equal.
  uint64_t inactive = 0;
  uint64_t records = 0; ///< Records of the active ones in the network.
  /// These are at most 20; `wrong` has all accounts.
  std::vector<std::string> differences;
  std::set<std::string> wrong; ///< Accounts that are not equal.

  bool equal() const noexcept { return wrong.empty(); }
};

/// Compares the node's list of repos and a consumer's copy with the truth. For
/// active accounts it compares status, rev, count, handle, and the CID of every
/// path. For others it checks that consumers know the status, and that a
/// deleted one is gone.
comparison compare(std::span<const simnet::expected_account> truth,
                   const std::map<std::string, listed_repo>& node,
                   const event_copy& copy);

/// Errors in what the node says about completeness on a quiet network, one
/// sentence for each active account.
struct completeness_findings {
  /// The node does not say that the copy is complete.
  std::vector<std::string> missing;
  /// The node says that the copy is complete, but it differs from the network.
  /// This is never right, not even for a moment.
  std::vector<std::string> wrong;
};

/// @pre all events were delivered
completeness_findings
judge_completeness(simnet::world& truth,
                   const std::map<std::string, listed_repo>& repos);

/// What happened to every operation in the log.
struct delivery_check {
  uint64_t operations = 0;
  uint64_t commits = 0;   ///< `$commit` operations, which are never sent.
  uint64_t delivered = 0; ///< Sent with the same meaning at both ends.
  /// Not sent: of inactive accounts, erased, or outdated in a trimmed log.
  uint64_t withheld = 0;
  uint64_t lost = 0;
  uint64_t altered = 0;  ///< Sent with another meaning.
  uint64_t invented = 0; ///< Ids that the log does not have.

  bool good() const noexcept {
    return lost == 0 && altered == 0 && invented == 0;
  }
};

/// Reads the logs of all partitions and compares them with what a consumer
/// received.
/// @param all_until By partition: later operations may have been on their way
/// when the node stopped, so they do not count as lost. Empty: none was.
result<delivery_check>
check_delivery(const closed_stores& stores, const event_copy& copy,
               const std::vector<storage::op_id>& all_until = {});

} // namespace weir::apps
