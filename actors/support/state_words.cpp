#include "actors/support/state_words.hpp"

namespace weir::actors {

using storage::account_status;
using storage::repo_status;

std::string_view account_word(account_status x) noexcept {
  return x == account_status::inactive ? "inactive" : storage::to_string(x);
}

std::vector<state_count> repo_states(const store_stats& x) {
  std::vector<state_count> out;
  for (const auto each :
       {repo_status::pending, repo_status::syncing, repo_status::synced,
        repo_status::error, repo_status::desync})
    out.push_back({storage::to_string(each),
                   &x.statuses[static_cast<size_t>(each)]});
  return out;
}

std::vector<state_count> account_states(const store_stats& x) {
  std::vector<state_count> out;
  for (const auto each :
       {account_status::active, account_status::takendown,
        account_status::suspended, account_status::deactivated,
        account_status::deleted, account_status::inactive})
    out.push_back({account_word(each), &x.accounts[static_cast<size_t>(each)]});
  return out;
}

} // namespace weir::actors
