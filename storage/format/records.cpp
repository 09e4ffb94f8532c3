#include "storage/format/records.hpp"

#include "storage/format/update.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

/// The name at the place of an enumerator.
template <class Enum, size_t N>
const char* name_at(const char* const (&names)[N], Enum x) noexcept {
  const auto i = static_cast<size_t>(x);
  return i < N ? names[i] : "unknown";
}

using enum account_status;

/// The states in the order of their gravity; the gravest comes last.
constexpr account_status by_gravity[]{active,    inactive,  deactivated,
                                      suspended, takendown, deleted};

auto gravity(account_status x) noexcept {
  return std::ranges::find(by_gravity, x);
}

} // namespace

const char* to_string(repo_status x) noexcept {
  static constexpr const char* names[]{"unknown", "pending", "syncing",
                                       "synced",  "error",   "desync"};
  return name_at(names, x);
}

const char* to_string(account_status x) noexcept {
  static constexpr const char* names[]{"unknown",    "active",    "deactivated",
                                       "suspended",  "takendown", "deleted",
                                       "deactivated"};
  return name_at(names, x);
}

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
