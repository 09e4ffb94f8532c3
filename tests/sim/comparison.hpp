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
  std::string account; ///< The state of the account.
  std::string rev;     ///< Empty before the first fetch.
  uint64_t records = 0;
  std::optional<bool> complete; ///< Nothing: the account is not active.
  std::string reason;           ///< Why it is not complete.
};

using node_repos = std::map<std::string, node_repo>; ///< By DID.

/// The differences that are permitted, and why.
struct allowances {
  /// Some upstream is a relay, so what the relay took down is taken down here.
  bool relayed = false;
  /// The application acks nothing. Events that are on their way when a
  /// connection ends are lost (`consumer_disable_acks`), so its copy is not
  /// compared.
  bool unacked = false;
  /// Streams lost events or were disconnected. A handle or a tombstone of that
  /// time is learnt with the next #identity of its account, so handles are not
  /// compared, and such accounts may be active.
  bool lost_events = false;
  /// Since the last complete comparison something happened that no stream
  /// tells. Only an audit finds it, and until then the node may report a copy
  /// as complete that is not.
  bool silent = false;
  /// No audit runs. A repo whose first fetch began before its stream had a
  /// position is compared with nothing until an event about it comes.
  bool unproved = false;
  /// Since the last complete comparison streams were held back, so that the
  /// node cannot know how late they are.
  bool late = false;
  /// Since then the directory gave wrong answers, and the node cannot know that
  /// until an account is looked up again.
  bool misled = false;
  /// Accounts with a tombstone that no stream told of. The node may have them
  /// as active or as deleted.
  std::set<std::string> untold;
  /// Accounts of hostile hosts, which decide everything about them.
  std::set<std::string> unjudged;
};

/// How the node and the application differ from the network.
struct differences {
  std::set<std::string> wrong; ///< Accounts, by DID.
  std::string first;           ///< One of them and its difference.

  /// A text for people; empty when nothing differs.
  std::string text() const {
    return wrong.empty() ? ""
                         : std::to_string(wrong.size())
                             + " accounts differ: " + first;
  }
};

differences compare(const std::vector<simnet::expected_account>& truth,
                    const node_repos& node, const apps::event_copy& copy,
                    const allowances& may);

/// A repo that the node reports as complete although its copy differs from the
/// state that its source has had since `since` or longer, and the difference.
/// Empty when there is none.
std::string
false_claim(const std::vector<simnet::expected_account>& truth,
            const node_repos& node, wall_time since);

} // namespace weir::sim
