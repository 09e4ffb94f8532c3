#include "storage/format/records.hpp"

#include "storage/format/update.hpp"

#include <algorithm>

namespace weir::storage {

const char* to_string(repo_status x) noexcept {
  switch (x) {
    case repo_status::pending:
      return "pending";
    case repo_status::syncing:
      return "syncing";
    case repo_status::synced:
      return "synced";
    case repo_status::error:
      return "error";
    case repo_status::desync:
      return "desync";
  }
  return "unknown";
}

const char* to_string(account_status x) noexcept {
  switch (x) {
    case account_status::active:
      return "active";
    case account_status::deactivated:
    case account_status::inactive:
      return "deactivated";
    case account_status::suspended:
      return "suspended";
    case account_status::takendown:
      return "takendown";
    case account_status::deleted:
      return "deleted";
  }
  return "unknown";
}

namespace {

int gravity(account_status x) noexcept {
  switch (x) {
    case account_status::active:
      return 0;
    case account_status::inactive:
      return 1;
    case account_status::deactivated:
      return 2;
    case account_status::suspended:
      return 3;
    case account_status::takendown:
      return 4;
    case account_status::deleted:
      return 5;
  }
  return 0;
}

} // namespace

account_status combined(const account_words& x) noexcept {
  auto out = x.tombstoned ? account_status::deleted : x.host;
  for (const auto& word : x.relays)
    if (gravity(word.said) > gravity(out))
      out = word.said;
  return out;
}

const stream_head* chain_row::find(std::string_view scope) const noexcept {
  const auto at
    = std::lower_bound(streams.begin(), streams.end(), scope,
                       [](const stream_head& x, std::string_view y) {
                         return x.scope < y;
                       });
  return at != streams.end() && at->scope == scope ? &*at : nullptr;
}

uint64_t chain_row::commit_revision() const noexcept {
  const auto* commits = find(commit_scope);
  return commits != nullptr ? commits->next_index : 0;
}

} // namespace weir::storage
