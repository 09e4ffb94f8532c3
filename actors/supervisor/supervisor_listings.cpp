#include "actors/supervisor/listed_line.hpp"
#include "actors/supervisor/supervisor_impl.hpp"
#include "base/crash_point.hpp"
#include "base/log.hpp"
#include "storage/tables/chain_table.hpp"
#include "storage/tables/collection_table.hpp"

namespace weir::actors {

namespace {

/// The rows with which a line is compared, and no others, because a listing
/// names every repo.
struct compared_rows {
  std::optional<storage::repo_row> row;
  std::shared_ptr<const storage::chain_row> chain; ///< Only for a repo in sync.
};

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

/// Keeps only those lines of a listing that are news for their repos. A line
/// whose repo's rows cannot be read is kept. For an account with a tombstone in
/// the directory, a line that calls it active is news once a day.
/// @returns the lines of unknown repos
std::vector<repo_listed> drop_known_lines(std::vector<repo_listed>& lines,
                                          const all_stores& stores,
                                          const upstream_board& board,
                                          wall_time now) {
  std::vector<repo_listed> unknown;
  std::erase_if(lines, [&](const repo_listed& line) {
    const auto& store = stores.of(line.repo);
    const auto known = load(store, line.repo);
    if (!known)
      return false;
    if (!known->row) {
      unknown.push_back(line);
      return true;
    }
    return !is_news(line, *known->row, known->chain.get(), board)
           && !(denies_tombstone(line, *known->row, board)
                && is_due_again(store.load_identity(line.repo), now));
  });
  return unknown;
}

} // namespace

/// The name of a listing for readers of the log.
std::string supervisor::name_of(const std::string& collection) const {
  return !collection.empty() && collection == env_.holders_listing
           ? "those of signal_collection"
           : collection;
}

void supervisor::restore(listing_machine::row x) {
  if (x.what.collection.empty()) {
    // Without an audit the listing was not offered, or was cut short: it is
    // still owed.
    debts_.restore(x.what.upstream, x.value.noted,
                   x.value.done && x.value.audited != 0);
    env_.shared->upstreams.set_audited(x.what.upstream, x.value.audited);
  }
  listing_.restore(std::move(x));
}

void supervisor::tell_health(uint32_t upstream,
                             const listing_debts::report& x) {
  if (x)
    env_.shared->health.with(
      [&](health_machine& health) { health.on_listing(upstream, *x); });
}

void supervisor::tell_holders(uint32_t upstream,
                              const unknown_holders::report& x) {
  if (x)
    env_.shared->health.with(
      [&](health_machine& health) { health.on_holders(upstream, *x); });
}

void supervisor::perform(const listing_machine::effects& x) {
  auto& board = env_.shared->upstreams;
  if (x.cut_short)
    log::info("listing_cut_short",
              {{"upstream", url_of(x.write->what.upstream)},
               {"collection", name_of(x.write->what.collection)},
               {"reason", "its last pages named no new account, or it has more "
                          "pages than are read; accounts that it did not name "
                          "are found with their next event"}});
  if (x.finished && x.write->what.collection.empty()) {
    const auto upstream = x.write->what.upstream;
    const auto ended = debts_.on_ended(upstream, x.write->value.noted);
    if (ended && x.audited)
      board.set_audited(upstream, wall().seconds());
    tell_health(upstream, ended);
    complete_laps_.hurry(now());
    count_complete();
  } else if (x.finished) {
    const auto& what = x.write->what;
    tell_holders(what.upstream, holders_.on_ended(what));
    hints_.on_holders_listed(what, holders_.knows(what));
    complete_laps_.hurry(now());
  }
  if (x.write) {
    auto rows = std::make_shared<storage::journal_batch>();
    rows->listings.push_back(
      {x.write->what.upstream, x.write->what.collection, x.write->value});
    if (x.write->what.collection.empty())
      rows->listings.back().row.audited = board.audited(x.write->what.upstream);
    send(env_.shared->root().journal, journal_rows{std::move(rows)}, rows_sink{});
  }
  if (x.fetch) {
    if (x.fetch->what.collection.empty() && x.fetch->cursor.empty()) {
      left_out_.on_begin(x.fetch->what.upstream, wall());
      origins_.on_begin(x.fetch->what.upstream);
    }
    held_pages_.push_back(*x.fetch);
  }
  if (x.whole && x.whole->collection.empty()) {
    left_out_.on_whole(x.whole->upstream, host_of(x.whole->upstream));
    scan_left_out();
  }
  if (env_.shared->intake.backfills())
    for (const auto& page : std::exchange(held_pages_, {}))
      env_.list(env_.shared->upstreams.find(page.what.upstream),
                page.what.collection, page.cursor, supervisor_actor{this});
  arm(x.timer);
  metrics_.listings.set(listing_.finished());
}

/// Its repos; in signal mode also those that have records in a signal
/// collection, which may have been quiet for years (SYNC-18). Each repo of a
/// PDS is asked about, for all collections at once.
void supervisor::list(uint32_t upstream) {
  complete_laps_.hurry(now());
  const auto at = env_.shared->upstreams.find(upstream);
  const position noted{upstream, at.epoch, at.first_cursor};
  debts_.on_wanted(upstream, noted);
  perform(listing_.on_wanted({upstream, {}}, noted, now(), wall()));
  if (at.relay)
    for (const auto& x : env_.signal_collections)
      list_holders({upstream, x});
  else if (!env_.holders_listing.empty())
    list_holders({upstream, env_.holders_listing});
  count_complete();
}

void supervisor::list_holders(const listing_id& what) {
  hints_.on_holders_wanted(what);
  perform(listing_.on_wanted(what, {}, now(), wall()));
}

/// READER drops the lines that agree with the store, so that a listing of a
/// quiet network wakes no REPO.
void supervisor::on_listing(const listing_page& x) {
  if (x.collection == one_account)
    return on_returned(x);
  if (x.asked > 0)
    listing_.on_asked({x.upstream, x.collection}, x.asked, now());
  if (!x.repos) {
    const auto& why = x.repos.error();
    metrics_.listings_failed.add();
    log::info("listing_failed", {{"upstream", url_of(x.upstream)},
                                 {"collection", name_of(x.collection)},
                                 {"reason", to_string(why)}});
    if (!x.collection.empty() && x.collection == env_.holders_listing
        && why.code != ec::rate_limited)
      log::warn(
        "holders_unknown",
        {{"upstream", url_of(x.upstream)},
         {"reason", why.context},
         {"hint",
          "it is not known yet which accounts there have records of the signal "
          "collection; each is found with its next commit in it"}});
    if (x.collection.empty()) {
      left_out_.on_failed(x.upstream);
      tell_health(x.upstream, debts_.on_failed(x.upstream, why, x.retry_after));
    } else {
      tell_holders(x.upstream,
                   holders_.on_failed({x.upstream, x.collection}, why));
    }
    perform(listing_.on_page({x.upstream, x.collection}, why, 0, now(),
                             x.retry_after));
    return;
  }
  if (x.collection.empty()) {
    tell_health(x.upstream, debts_.on_page(x.upstream));
    left_out_.on_lines(x.upstream, *x.repos);
  } else {
    holders_.on_page({x.upstream, x.collection}, x.unanswered);
  }
  look_at_origin(x);
  std::vector<uint64_t> named;
  named.reserve(x.repos->size() + x.without.size());
  for (const auto* lines : {&*x.repos, &x.without})
    for (const auto& line : *lines)
      named.push_back(atproto::stable_hash(line.repo.str()));
  if (x.unanswered > 0)
    log::warn("accounts_not_described",
              {{"upstream", url_of(x.upstream)},
               {"accounts", x.unanswered},
               {"hint", "whether they have records of the signal collection is "
                        "asked again with the next listing"}});
  listing_.on_lines({x.upstream, x.collection}, named);
  read([to = supervisor_actor{this}, shared = env_.shared,
        page = x](store_readers&) mutable {
    const auto listed = page.repos->size() + page.without.size();
    auto unknown = drop_known_lines(*page.repos, shared->stores,
                                    shared->upstreams,
                                    shared->time->wall_now());
    caf::anon_send(
      to, listing_compared{std::move(page), std::move(unknown), listed});
  });
}

/// Lines go to their REPOs through their ROUTERs. The next page waits until all
/// lines were taken and all claims are decided: a listing is never faster than
/// the store, or than the directory.
void supervisor::on_compared(const listing_compared& x) {
  const listing_id what{x.page.upstream, x.page.collection};
  const auto progress = std::make_shared<page_progress>(
    page_progress{{what}, x.page.cursor, x.listed});
  progress->parts.emplace([this, page = progress.get()](const caf::error&) {
    finish_page(*page);
  });
  std::map<size_t, repo_listing> by_router;
  for (const auto& line : *x.page.repos)
    by_router[env_.shared->places().router_of(line.repo)].repos.push_back(line);
  for (auto& [router, lines] : by_router)
    give(env_.shared->routers()[router], std::move(lines), progress);
  if (env_.discover || !what.collection.empty())
    claim(x.unknown, progress);
  progress->parts->answered();
}

/// When their ROUTER cannot answer, these repos come again with the next
/// listing.
void supervisor::give(const router_actor& to, repo_listing lines,
                      const std::shared_ptr<page_progress>& page) {
  page->parts->expect();
  const auto taken = [page] { page->parts->answered(); };
  request(to, caf::infinite, std::move(lines))
    .then([taken](const listing_taken&) { taken(); },
          [taken](caf::error&) { taken(); });
}

void supervisor::finish_page(const page_progress& x) {
  pass(crash_point::listing_page);
  const auto& [what, trusted, proved, has_room] = x.verdict;
  if (!has_room) {
    perform(listing_.on_page(
      what, fail(ec::limit_reached, "too many DIDs that are only listed"), 0,
      now()));
  } else if (trusted) {
    perform(listing_.on_page(what, x.cursor, x.listed, now()));
  } else if (!proved) {
    perform(listing_.on_unproved(what, now()));
  } else {
    if (what.collection.empty())
      tell_health(what.upstream, debts_.on_mistrusted(what.upstream));
    perform(listing_.on_mistrust(what, x.cursor, now()));
  }
}

} // namespace weir::actors
