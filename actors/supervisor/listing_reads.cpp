#include "actors/supervisor/listing_reads.hpp"

#include "actors/supervisor/listed_line.hpp"
#include "actors/support/store_readers.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "messages/journal.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/collection_table.hpp"

namespace weir::actors {

namespace {

result<compared_rows> load(const store_readers& store,
                           const atproto::did& repo) {
  compared_rows out;
  auto row = store.load_row(repo);
  if (!row)
    return row.error();
  out.row = std::move(*row);
  if (!out.row || out.row->status != storage::repo_status::synced)
    return out;
  auto chain = storage::load_chain(store.db, store.names, repo);
  if (!chain)
    return chain.error();
  out.chain = std::move(*chain);
  return out;
}

/// Keeps only those lines of a listing that their REPOs have to receive.
/// @returns the lines of unknown repos
std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const all_stores& stores,
                                          const upstream_board& board,
                                          wall_time now) {
  std::vector<repo_listed> unknown;
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto& store = stores.of(line.repo);
    const auto fate = fate_of(line, load(store, line.repo), board, now, [&] {
      return store.load_identity(line.repo);
    });
    if (fate == line_fate::claim)
      unknown.push_back(line);
    return fate != line_fate::give;
  });
  return unknown;
}

} // namespace

listing_reads::listing_reads(supervisor_desk& desk, claim_checks& claims,
                             left_out_search& left_out,
                             completeness_survey& survey,
                             const listing_options& options)
  : desk_(desk), claims_(claims), left_out_(left_out), survey_(survey),
    machine_(options), debts_(desk.env.discover) {
  for (auto& x : std::exchange(desk.env.listings, {}))
    restore(std::move(x));
}

void listing_reads::restore(listing_machine::row x) {
  if (x.what.collection.empty()) {
    // Without an audit it was not offered, or was cut short: it is still owed.
    debts_.restore(x.what.upstream, x.value.noted,
                   x.value.done && x.value.audited != 0);
    desk_.board().set_audited(x.what.upstream, x.value.audited);
  }
  machine_.restore(std::move(x));
}

void listing_reads::perform(const listing_machine::effects& x) {
  if (x.cut_short)
    log::info("listing_cut_short",
              {{"upstream", desk_.url_of(x.write->what.upstream)},
               {"collection", name_of(x.write->what.collection)},
               {"reason", "its last pages named no new account, or it has more "
                          "pages than are read; accounts that it did not name "
                          "are found with their next event"}});
  if (x.finished)
    finish(x);
  if (x.write)
    write(*x.write);
  if (x.fetch) {
    if (x.fetch->what.collection.empty() && x.fetch->cursor.empty()) {
      left_out_.machine().on_begin(x.fetch->what.upstream, desk_.wall());
      claims_.on_listing(x.fetch->what.upstream);
    }
    waiting_.push_back(*x.fetch);
  }
  if (x.whole && x.whole->collection.empty()) {
    left_out_.machine().on_whole(x.whole->upstream,
                                 desk_.host_of(x.whole->upstream));
    left_out_.go_on();
  }
  on_intake();
  desk_.arm(x.timer);
  desk_.metrics.listings.set(machine_.finished());
}

/// @pre a listing has ended, and its row is written
void listing_reads::finish(const listing_machine::effects& x) {
  const auto& [what, row] = *x.write;
  if (what.collection.empty()) {
    const auto ended = debts_.on_ended(what.upstream, row.noted);
    if (ended && x.audited)
      desk_.board().set_audited(what.upstream, desk_.wall().seconds());
    report(what.upstream, ended, &health_machine::on_listing);
  } else {
    report(what.upstream, holders_.on_ended(what),
           &health_machine::on_holders);
    survey_.hints().on_holders_listed(what, holders_.knows(what));
  }
  survey_.hurry();
  survey_.go_on(machine_);
}

void listing_reads::write(const listing_machine::row& x) {
  auto rows = std::make_shared<storage::journal_batch>();
  auto& [what, value] = x;
  rows->listings.push_back({what.upstream, what.collection, value});
  if (what.collection.empty())
    rows->listings.back().row.audited = desk_.board().audited(what.upstream);
  desk_.self->send(desk_.shared().root().journal, journal_rows{std::move(rows)},
                   rows_sink{});
}

/// Its repos; in signal mode also those that have records in a signal
/// collection, which may have been quiet for years (SYNC-18).
void listing_reads::on_wanted(uint32_t upstream) {
  survey_.hurry();
  const auto at = desk_.board().find(upstream);
  const position noted{upstream, at.epoch, at.first_cursor};
  debts_.on_wanted(upstream, noted);
  perform(machine_.on_wanted({upstream, {}}, noted, desk_.now(), desk_.wall()));
  for (const auto& x : unknown_holders::wanted(
         at.relay, desk_.env.signal_collections, desk_.env.holders_listing)) {
    const listing_id what{upstream, x};
    survey_.hints().on_holders_wanted(what);
    perform(machine_.on_wanted(what, {}, desk_.now(), desk_.wall()));
  }
  survey_.go_on(machine_);
}

/// READER drops the lines that agree with the store, so that a listing of a
/// quiet network wakes no REPO.
void listing_reads::on_page(const listing_page& x) {
  if (x.asked > 0)
    machine_.on_asked({x.upstream, x.collection}, x.asked, desk_.now());
  if (!x.repos)
    return on_failed(x);
  if (x.collection.empty()) {
    report(x.upstream, debts_.on_page(x.upstream),
           &health_machine::on_listing);
    left_out_.machine().on_lines(x.upstream, *x.repos);
    claims_.look_at_origin(x);
  } else {
    holders_.on_page({x.upstream, x.collection}, x.unanswered);
  }
  std::vector<uint64_t> named;
  named.reserve(x.repos->size() + x.without.size());
  for (const auto* lines : {&*x.repos, &x.without})
    for (const auto& line : *lines)
      named.push_back(atproto::stable_hash(line.repo.str()));
  if (x.unanswered > 0)
    log::warn("accounts_not_described",
              {{"upstream", desk_.url_of(x.upstream)},
               {"accounts", x.unanswered},
               {"hint", "whether they have records of the signal collection is "
                        "asked again with the next listing"}});
  machine_.on_lines({x.upstream, x.collection}, named);
  desk_.read([to = desk_.sink(), shared = desk_.env.shared,
              page = x](store_readers&) mutable {
    const auto listed = page.repos->size() + page.without.size();
    auto unknown = drop_known_lines(
      *page.repos, shared->stores, shared->upstreams, shared->time->wall_now());
    caf::anon_send(
      to, listing_compared{std::move(page), std::move(unknown), listed});
  });
}

void listing_reads::on_failed(const listing_page& x) {
  const auto& why = x.repos.error();
  desk_.metrics.listings_failed.add();
  log::info("listing_failed", {{"upstream", desk_.url_of(x.upstream)},
                               {"collection", name_of(x.collection)},
                               {"reason", to_string(why)}});
  if (unknown_holders::stay_unknown(x.collection, desk_.env.holders_listing,
                                    why))
    log::warn(
      "holders_unknown",
      {{"upstream", desk_.url_of(x.upstream)},
       {"reason", why.context},
       {"hint",
        "it is not known yet which accounts there have records of the signal "
        "collection; each is found with its next commit in it"}});
  if (x.collection.empty()) {
    left_out_.machine().on_failed(x.upstream);
    report(x.upstream, debts_.on_failed(x.upstream, why, x.retry_after),
           &health_machine::on_listing);
  } else {
    report(x.upstream, holders_.on_failed({x.upstream, x.collection}, why),
           &health_machine::on_holders);
  }
  perform(machine_.on_page({x.upstream, x.collection}, why, 0, desk_.now(),
                           x.retry_after));
}

/// Lines go to their REPOs through their ROUTERs. The next page waits until all
/// lines were taken and all claims are decided: a listing is never faster than
/// the store, or than the directory.
void listing_reads::on_compared(const listing_compared& x) {
  const listing_id what{x.page.upstream, x.page.collection};
  const auto progress = std::make_shared<page_progress>(
    page_progress{{what}, x.page.cursor, x.listed});
  progress->parts.emplace([this, page = progress.get()](const caf::error&) {
    finish_page(*page);
  });
  for (auto& [router, lines] :
       desk_.shared().places().by_router<repo_listing>(*x.page.repos))
    claims_.give(desk_.shared().routers()[router], std::move(lines), progress);
  if (desk_.env.discover || !what.collection.empty())
    claims_.on_page(x.unknown, progress);
  progress->parts->answered();
}

void listing_reads::finish_page(const page_progress& x) {
  pass(crash_point::listing_page);
  const auto& what = x.verdict.what;
  if (x.verdict.blames() && what.collection.empty())
    report(what.upstream, debts_.on_mistrusted(what.upstream),
           &health_machine::on_listing);
  perform(machine_.on_verdict(x.verdict, x.cursor, x.listed, desk_.now()));
}

} // namespace weir::actors
