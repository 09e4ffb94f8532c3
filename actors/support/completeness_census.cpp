#include "actors/support/completeness_census.hpp"

#include "actors/support/limits.hpp"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace weir::actors {

void completeness_count::add(const atproto::did& repo, int64_t last_sync,
                             const completeness::terms& x) {
  ++active;
  if (x.complete()) {
    ++complete;
    return;
  }
  for (size_t i = 0; i < without.size(); ++i)
    without[i] += x.*completeness::all_terms[i].holds ? 0u : 1u;
  if (oldest.empty() || last_sync < oldest_sync) {
    oldest = repo;
    oldest_sync = last_sync;
  }
}

void completeness_count::add(const completeness_count& x) {
  active += x.active;
  complete += x.complete;
  for (size_t i = 0; i < without.size(); ++i)
    without[i] += x.without[i];
  if (!x.oldest.empty() && (oldest.empty() || x.oldest_sync < oldest_sync)) {
    oldest = x.oldest;
    oldest_sync = x.oldest_sync;
  }
}

void completeness_census::add(const atproto::did& repo,
                              const storage::repo_row& row,
                              const completeness::terms& x) {
  if (!completeness::counts(row))
    return;
  all_.add(repo, row.last_sync, x);
  const auto known = hosts_.find(row.pds);
  if (known != hosts_.end()) {
    known->second.add(repo, row.last_sync, x);
    return;
  }
  if (is_full_) {
    others_.add(repo, row.last_sync, x);
    return;
  }
  hosts_[row.pds].add(repo, row.last_sync, x);
  if (hosts_.size() >= 2 * limits::completeness_hosts_max) {
    is_full_ = true;
    keep_largest();
  }
}

void completeness_census::close() {
  keep_largest();
}

void completeness_census::keep_largest() {
  if (hosts_.size() <= limits::completeness_hosts_max)
    return;
  std::vector<std::pair<uint64_t, std::string_view>> sizes;
  sizes.reserve(hosts_.size());
  for (const auto& [host, x] : hosts_)
    sizes.emplace_back(x.active, host);
  const auto end = sizes.begin() + limits::completeness_hosts_max;
  std::nth_element(sizes.begin(), end, sizes.end(), std::greater<>{});
  std::vector<std::string> gone;
  for (auto i = end; i != sizes.end(); ++i)
    gone.emplace_back(i->second);
  for (const auto& host : gone) {
    others_.add(hosts_.at(host));
    hosts_.erase(host);
  }
}

void completeness_board::put(entry x) {
  const std::lock_guard guard{mutex_};
  last_ = std::move(x);
}

completeness_board::entry completeness_board::last() const {
  const std::lock_guard guard{mutex_};
  return last_;
}

} // namespace weir::actors
