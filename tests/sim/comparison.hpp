#pragma once

#include "apps/demo/copy.hpp"
#include "simnet/truth.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace weir::sim {

/// A repo as the node lists it.
struct node_repo {
  std::string status;
  std::string account; ///< Its state.
  std::string rev; ///< Empty before the first fetch.
  uint64_t records = 0;
  std::optional<bool> complete; ///< Nothing: the account is not active.
  std::string reason;           ///< Why it is not.
};

using node_repos = std::map<std::string, node_repo>; ///< By DID.

/// What may differ, and why.
struct allowances {
  /// Some upstream is a relay: what it took down is taken down here.
  bool relayed = false;
  /// The application acks nothing: what is under way when a connection ends is
  /// gone (`consumer_disable_acks`), so its copy is not compared.
  bool unacked = false;
  /// Streams lost events, or were away: a handle or a tombstone of meanwhile is
  /// learnt with the next #identity of its account, so handles are not compared
  /// and such accounts may be active.
  bool lost_events = false;
  /// Since the last peace something happened that no stream tells: only an audit
  /// finds it, and until then a copy may be called complete that is not.
  bool silent = false;
  /// Nobody looks at all rows: a repo whose first fetch began before its stream
  /// had a position is compared with nothing until something is told of it.
  bool unproved = false;
  /// Since the last peace streams were held back, so that nobody can know how far
  /// they lag.
  bool late = false;
  /// Since then the directory said what is not so, and nobody can know until an
  /// account is looked up again.
  bool misled = false;
  /// Accounts with a tombstone that no stream told of: they may be known as
  /// active, or as deleted.
  std::set<std::string> untold;
  /// Accounts of hostile hosts, which are what their hosts make of them.
  std::set<std::string> unjudged;
};

/// How the node and the application differ from the network.
struct differences {
  std::set<std::string> wrong; ///< Accounts, by DID.
  std::string first;           ///< One of them, and how.

  /// For people; empty: there is none.
  std::string text() const {
    return wrong.empty() ? ""
                         : std::to_string(wrong.size())
                             + " accounts differ: " + first;
  }
};

differences compare(const std::vector<simnet::expected_account>& truth,
                    const node_repos& node, const apps::event_copy& copy,
                    const allowances& may);

/// A repo that the node calls complete though its copy is another one than its
/// source has been since `since` at least, and how; empty: there is none.
std::string
false_claim(const std::vector<simnet::expected_account>& truth,
            const node_repos& node, wall_time since);

} // namespace weir::sim
