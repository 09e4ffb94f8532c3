#pragma once

#include "apps/weir/demo_copy.hpp"
#include "apps/weir/demo_network.hpp"
#include "simnet/truth.hpp"
#include "storage/verify/verify.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace weir::apps {

/// How the copies differ from the network.
struct comparison {
  uint64_t active = 0; ///< Accounts that must be equal in every record.
  uint64_t inactive = 0;
  uint64_t records = 0; ///< Of the active ones, in the truth.
  uint64_t changed_paths = 0;
  std::vector<std::string> differences; ///< At most 20; `wrong` has all.
  std::set<std::string> wrong;          ///< Accounts that are not equal.

  bool equal() const noexcept { return wrong.empty(); }
};

/// Compares what the node lists, and what a consumer built from events, with
/// the truth. Active accounts: status, rev, count, handle, and CID of every
/// path. Others: that consumers know why, and that a deleted one is gone.
comparison compare(std::span<const simnet::expected_account> truth,
                   const std::map<std::string, listed_repo>& node,
                   const event_copy& copy);

/// What became of every operation in the log.
struct delivery_check {
  uint64_t operations = 0;
  uint64_t commits = 0;   ///< `$commit`: never sent.
  uint64_t delivered = 0; ///< Sent, and meant the same at both ends.
  uint64_t withheld = 0;  ///< Of accounts that are inactive, or erased.
  uint64_t lost = 0;
  uint64_t altered = 0;  ///< The consumer was told something else.
  uint64_t invented = 0; ///< Ids that the log does not have.

  bool good() const noexcept {
    return lost == 0 && altered == 0 && invented == 0;
  }
};

/// Reads the log of a store that nobody uses and compares it with what a
/// consumer was sent.
/// @param all_until What comes after this may have been on its way when the node
/// stopped: it is not lost when it was not sent.
result<delivery_check> check_delivery(const storage::database& db,
                                      const event_copy& copy,
                                      storage::op_id all_until = UINT64_MAX);

} // namespace weir::apps
