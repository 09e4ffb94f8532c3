#include "actors/supervisor/supervisor_impl.hpp"

#include "actors/support/store_readers.hpp"
#include "base/log.hpp"
#include "storage/collection_table.hpp"
#include "storage/repo_table.hpp"

/// What accounts are at their hosts: who is asked, and whom a listing left out
/// (protocol.md 4.5, 9).
namespace weir::actors {

void supervisor::perform(question_machine::effects x) {
  for (const auto& each : x.ask)
    env_.ask(each.repo, each.pds, supervisor_actor{this});
  for (const auto& each : x.told)
    send(router_of(each.repo), account_told{each.repo, each.pds, each.account});
  if (x.timer)
    timer_.arm(this, now(), *x.timer);
  questions_open_->set(questions_.open());
  scan_left_out();
}

void supervisor::on_answer(const account_answer& x) {
  using kind = account_answer::kind;
  switch (x.what) {
    case kind::told:
      perform(questions_.on_told(x.repo, x.pds, x.account, now()));
      return;
    case kind::not_found:
      perform(questions_.on_not_found(x.repo, x.pds, now()));
      return;
    case kind::failed:
      perform(questions_.on_failed(x.repo, x.pds, x.retry_after, now()));
      return;
    case kind::useless:
      perform(questions_.on_useless(x.repo, x.pds, now()));
      return;
  }
}

// -- whom a listing leaves out ------------------------------------------------

/// A listing begins with its first page.
void supervisor::count_page(const listing_machine::request& x) {
  if (x.what.collection.empty() && x.cursor.empty())
    censuses_[x.what.upstream]
      = {std::make_shared<listing_census>(env_.census_entries, ++turn_),
         wall().seconds()};
}

void supervisor::count_lines(const listing_page& x) {
  const auto census = censuses_.find(x.upstream);
  if (!x.collection.empty() || census == censuses_.end())
    return;
  for (const auto& line : x.repos)
    census->second.named->add(atproto::stable_hash(line.repo.str()));
}

/// The listing named all there are: the repos of its upstream that it did not
/// name may be gone.
void supervisor::find_left_out(const listing_id& what) {
  auto census = censuses_.extract(what.upstream);
  if (!what.collection.empty() || census.empty())
    return;
  census.mapped().named->close();
  std::erase_if(scans_, [&](const left_out_scan& x) {
    return x.upstream == what.upstream && !x.reading;
  });
  scans_.push_back({what.upstream, census.mapped().since,
                    census.mapped().named, {}, false});
  scan_left_out();
}

/// One page of rows at a time, as long as there is room for questions.
void supervisor::scan_left_out() {
  if (scans_.empty() || scans_.front().reading || !questions_.has_room())
    return;
  auto& scan = scans_.front();
  scan.reading = true;
  reader_job job;
  job.run = [to = supervisor_actor{this}, shared = env_.shared,
             scan,
             now = wall()](store_readers& store) {
    left_out_page out;
    out.upstream = scan.upstream;
    const auto page
      = storage::repo_table{store.db, store.names}.page(scan.after);
    if (!page) {
      out.failed = page.error();
      caf::anon_send(to, std::move(out));
      return;
    }
    for (const auto& [repo, row] : *page)
      if (should_be_listed(row, scan.since, now)
          && shared->upstreams.accounting_for(row.pds).id == scan.upstream
          && scan.named->left_out(atproto::stable_hash(repo.str())))
        out.repos.push_back({repo, row.pds});
    out.end = page->size() < limits::repos_page_max;
    if (!page->empty())
      out.next = page->back().first;
    caf::anon_send(to, std::move(out));
  };
  send(env_.shared->reader_of(scan.upstream), std::move(job));
}

void supervisor::on_left_out(const left_out_page& x) {
  auto& scan = scans_.front();
  scan.reading = false;
  scan.after = x.next;
  if (x.failed.code != ec::none)
    log::warn("left_out_unread", {{"upstream", x.upstream},
                                  {"reason", to_string(x.failed)}});
  if (x.end || x.failed.code != ec::none)
    scans_.pop_front();
  for (const auto& repo : x.repos)
    perform(questions_.on_question({repo.id, repo.pds, false, false}, now()));
  scan_left_out();
}

} // namespace weir::actors
