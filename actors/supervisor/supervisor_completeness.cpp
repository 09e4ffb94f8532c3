#include "actors/supervisor/supervisor_impl.hpp"

#include "actors/support/store_readers.hpp"
#include "base/log.hpp"
#include "storage/collection_table.hpp"
#include "storage/repo_table.hpp"

#include <string_view>
#include <unordered_map>

/// Which repos are complete: all rows are counted, a page at a time.
namespace weir::actors {

namespace {

/// Chains are read only where the row alone does not tell.
result<completeness::terms> judge(const store_readers& store,
                                  const atproto::did& repo,
                                  const storage::repo_row& row,
                                  const upstream_view& upstream,
                                  uint32_t filter) {
  if (row.last_indexed_rev >= row.first_rev || !row.first_rev.defined())
    return completeness::explain(row, nullptr, upstream, filter);
  const auto known = store.load_repo(repo);
  if (!known)
    return known.error();
  return completeness::explain(row, known->chain.get(), upstream, filter);
}

completeness_page read_page(const store_readers& store, const context& shared,
                            const atproto::did& after, uint32_t filter,
                            completeness_census& census) {
  completeness_page out;
  const auto page = storage::repo_table{store.db, store.names}.page(after);
  if (!page) {
    out.failed = page.error();
    return out;
  }
  const auto now = shared.time->steady_now();
  std::unordered_map<std::string_view, upstream_view> by_host;
  for (const auto& [repo, row] : *page) {
    if (!completeness::counts(row))
      continue;
    auto known = by_host.find(row.pds);
    if (known == by_host.end())
      known = by_host
                .emplace(row.pds, completeness::accounting(shared.upstreams,
                                                           row.pds, now))
                .first;
    const auto terms = judge(store, repo, row, known->second, filter);
    if (!terms) {
      out.failed = terms.error();
      return out;
    }
    census.add(repo, row, *terms);
  }
  if (!page->empty())
    out.last = page->back().first;
  out.end = page->size() < limits::repos_page_max;
  return out;
}

} // namespace

/// One page at a time; its READER alone has the census meanwhile.
void supervisor::count_complete() {
  if (const auto after = complete_laps_.next(now())) {
    if (after->empty())
      census_ = std::make_shared<completeness_census>();
    reader_job job;
    job.run = [to = supervisor_actor{this}, shared = env_.shared,
               after = *after, census = census_,
               filter = env_.filter_generation](store_readers& store) {
      caf::anon_send(to, read_page(store, *shared, after, filter, *census));
    };
    send(env_.shared->reader_of(0), std::move(job));
  }
  if (const auto due = complete_laps_.due(); due && *due > now())
    timer_.arm(this, now(), *due);
}

void supervisor::on_counted(const completeness_page& x) {
  if (x.failed.code != ec::none) {
    log::warn("completeness_unread", {{"reason", to_string(x.failed)}});
    complete_laps_.on_failure(now());
    count_complete();
    return;
  }
  if (!x.end) {
    complete_laps_.on_page(x.last, now(), {});
    count_complete();
    return;
  }
  census_->close();
  const auto& all = census_->all();
  const auto missing = all.active - all.complete;
  active_->set(all.active);
  incomplete_->set(missing);
  for (size_t i = 0; i < all.without.size(); ++i)
    without_[i]->set(all.without[i]);
  env_.shared->completeness.put({std::exchange(census_, nullptr), wall()});
  complete_laps_.on_end(missing == 0, now());
  count_complete();
}

} // namespace weir::actors
