#include "storage/tables/name_shares.hpp"

#include "storage/tables/limits.hpp"

#include <algorithm>

namespace weir::storage {

void name_shares::add(const collection_row& x) {
  const auto cost = cost_of(x);
  bytes_ += cost;
  if (x.repo.empty())
    return;
  hosts_[x.host] += cost;
  repos_[x.repo] += cost;
}

void name_shares::remove(const collection_row& x) {
  const auto cost = cost_of(x);
  bytes_ -= cost;
  if (x.repo.empty())
    return;
  give_back(hosts_, x.host, cost);
  give_back(repos_, x.repo, cost);
}

/// Host and repo count twice: they are in the name's entry and in a table of
/// shares.
size_t name_shares::cost_of(const collection_row& x) noexcept {
  return limits::name_entry_bytes + x.name.size()
         + 2 * (x.host.size() + x.repo.size());
}

std::string name_shares::refusal(const name_user& who, size_t bytes) const {
  if (bytes_ + bytes > bytes_max_)
    return "more collections than the store can hold";
  const auto of_host = held(hosts_, who.host) + bytes;
  if (of_host <= limits::names_host_floor)
    return "";
  const auto free = bytes_max_ / 2 - std::min(bytes_max_ / 2, bytes_);
  if (held(repos_, who.repo) + bytes > free / limits::names_repo_share)
    return "it begins too many collections that no repo had before";
  if (of_host > free / limits::names_host_share)
    return "the repos of its host begin too many collections that no repo had "
           "before";
  return "";
}

void name_shares::give_back(shares& from, const std::string& whose,
                            size_t bytes) {
  const auto i = from.find(whose);
  if ((i->second -= bytes) == 0)
    from.erase(i);
}

size_t name_shares::held(const shares& x, std::string_view whose) {
  const auto i = x.find(std::string{whose});
  return i == x.end() ? 0 : i->second;
}

} // namespace weir::storage
