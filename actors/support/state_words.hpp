#pragma once

#include "actors/support/store_stats.hpp"

#include <string_view>
#include <vector>

/// The words of docs/api.md for states of repos and of accounts. Whatever the node
/// answers, counts or logs has them from here; events and `/info/:did` have the
/// words that clients of the network know (`storage::to_string`).
namespace weir::actors {

std::string_view account_word(storage::account_status x) noexcept;

struct state_count {
  std::string_view word;
  const std::atomic<uint64_t>* count = nullptr; ///< In the statistics.
};

/// How many repos are in each state, whatever their accounts are.
std::vector<state_count> repo_states(const store_stats& x);

/// Of how many repos the account is in each state.
std::vector<state_count> account_states(const store_stats& x);

} // namespace weir::actors
