#include "storage/log/repo_guards.hpp"

#include "storage/format/keys_repo.hpp"

#include <algorithm>

namespace weir::storage {

/// `$commit` is always in the chain's own row.
void repo_guard::learn(const stored_chain& x) noexcept {
  learn(x.chain);
  operations += x.apart_operations;
}

void repo_guard::learn(const chain_row& x) noexcept {
  chain_known = true;
  commit_revision = x.commit_revision();
  operations = operations_of(x);
  rev = x.rev;
  erased_through = x.erased_through;
}

void repo_guard::learn(const repo_row& x) noexcept {
  row_known = true;
  has_row = true;
  status = x.status;
  due = due_of(x);
  resync_id = x.resync_id;
}

uint64_t operations_of(const chain_row& x) noexcept {
  uint64_t out = 0;
  for (const auto& stream : x.streams)
    out += stream.next_index;
  return out;
}

uint64_t due_of(const repo_row& x) noexcept {
  if (x.account != account_status::active)
    return never_due;
  return static_cast<uint64_t>(std::max<int64_t>(x.next_retry, 0));
}

repo_guard& repo_guards::at(const atproto::did& x) {
  if (const auto i = by_did_.find(x.str()); i != by_did_.end()) {
    entries_.splice(entries_.begin(), entries_, i->second);
    return i->second->second;
  }
  if (by_did_.size() >= capacity_) {
    by_did_.erase(entries_.back().first.str());
    entries_.pop_back();
  }
  entries_.emplace_front(x, repo_guard{});
  by_did_.emplace(entries_.front().first.str(), entries_.begin());
  return entries_.front().second;
}

} // namespace weir::storage
