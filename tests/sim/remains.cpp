#include "tests/sim/remains.hpp"

#include "apps/demo/proof.hpp"
#include "storage/tables/head_cursor.hpp"
#include "storage/tables/limits.hpp"
#include "storage/verify/verify.hpp"
#include "tests/sim/broken.hpp"
#include "tests/sim/enemies.hpp"

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Hostile hosts send until the end, so their last events need not have been
/// sent.
constexpr auto time_to_send = 10s;

/// The permitted changes of a repo's status (SYNC-02 to SYNC-08), as they are
/// written: changes during an earlier write are one step. Only a fetch leads to
/// `synced`.
const std::set<std::string> listed_changes{
  "new to pending",     "pending to syncing", "pending to error",
  "pending to desync",  "pending to gone",    "syncing to synced",
  "syncing to error",   "syncing to desync",  "syncing to pending",
  "syncing to gone",    "synced to desync",   "synced to pending",
  "synced to gone",     "synced to syncing",  "synced to error",
  "new to error",       "desync to syncing",  "desync to error",
  "desync to pending",  "desync to gone",     "error to syncing",
  "error to desync",    "error to pending",   "error to gone"};

/// Checks that only repos with a reason fell out of sync.
void check_soundness(const scene& x, const performer& done) {
  // A fetch begins again when a restart interrupts it, when its host puts it
  // off, or when it gave way to others because its host had stopped.
  const auto counts_all = done.manager().starts() == 1;
  const auto puts_off = done.counts().contains("fault rate_limit")
                        || done.counts().contains(to_string(deed_kind::stall));
  uint64_t fallen = 0;
  for (const auto& [change, count] : x.status_changes())
    if (change.ends_with(" to desync")
        && (counts_all || change.starts_with("synced"))
        && !(puts_off && change.starts_with("syncing")))
      fallen += count;
  const auto asked = done.count_of(deed_kind::resync);
  if (fallen > asked)
    throw broken{"statuses", std::to_string(fallen) + " repos fell out of sync, "
                               + std::to_string(asked)
                               + " were asked to, and nothing broke a chain"};
}

void check_statuses(const scene& x, const performer& done) {
  for (const auto& [change, count] : x.status_changes())
    if (!listed_changes.contains(change))
      throw broken{"statuses", "a repo went from " + change};
  if (x.settings().sound)
    check_soundness(x, done);
}

void check_stores(const apps::closed_stores& stores) {
  const auto report = storage::verify_stores(stores.all());
  if (!report)
    throw broken{"store", to_string(report.error())};
  if (report->findings_total == 0)
    return;
  const auto& x = report->findings.front();
  throw broken{"store", x.invariant + " " + x.where + ": " + x.sentence};
}

using cids = std::map<std::string, std::string>; ///< By path.

cids stored_records(const store_readers& store, const atproto::did& repo,
                    const storage::chain_row& chain) {
  cids out;
  storage::head_cursor heads{store.db, store.names, store.key_partition, repo,
                             chain};
  for (;;) {
    const auto page = heads.next();
    if (!page)
      throw broken{"store", to_string(page.error())};
    for (const auto& x : *page)
      out.emplace(x.path(), x.head.id.to_text());
    if (page->size() < limits::heads_page_max)
      return out;
  }
}

/// Checks that each repo that is synced at its source's rev has its source's
/// records. During a run only their number is compared, and the application's
/// copy if it acks.
void check_records(const apps::closed_stores& stores,
                   const std::vector<simnet::expected_account>& truth) {
  for (const auto& x : truth) {
    const auto& store = stores.repos().of(x.account.id);
    const auto known = store.load_repo(x.account.id);
    if (!known)
      throw broken{"store", to_string(known.error())};
    if (!known->row || !known->chain
        || known->row->status != storage::repo_status::synced
        || known->row->account != storage::account_status::active
        || known->chain->rev != x.account.rev)
      continue;
    cids wanted;
    for (const auto& each : x.records)
      wanted.emplace(each.path, each.id.to_text());
    if (stored_records(store, x.account.id, *known->chain) != wanted)
      throw broken{"complete", x.account.id.str()
                                 + " has other records in the store than at "
                                   "its source, at the same rev"};
  }
}

void check_sent(const apps::closed_stores& stores, const apps::event_copy& copy,
                bool all_were_acked,
                const std::vector<storage::op_id>& all_until) {
  if (std::ranges::count(all_until, 0u) == std::ssize(all_until)
      && !copy.ids().empty())
    throw broken{"delivery", "the node does not say how much it wrote"};
  const auto found = apps::check_delivery(stores, copy, all_until);
  if (!found)
    throw broken{"store", to_string(found.error())};
  const auto lost = all_were_acked ? found->lost : 0;
  if (lost + found->altered + found->invented > 0)
    throw broken{"delivery", std::to_string(found->lost) + " events lost, "
                               + std::to_string(found->altered) + " altered, "
                               + std::to_string(found->invented) + " invented"};
}

} // namespace

apps::closed_stores open_stores(scene& x) {
  auto out = apps::closed_stores::open(x.settings().node.data_dir, &x.disk());
  if (!out)
    throw broken{"store", to_string(out.error())};
  return std::move(*out);
}

void check_remains(scene& x, const performer& done) {
  const auto all_until = x.last_operations();
  x.steps().run_for(time_to_send);
  auto truth = x.expected();
  std::erase_if(truth, [&x](const auto& each) {
    return is_of_enemy(x.life().truth(), each.account.id.str());
  });
  x.stop_node();
  check_statuses(x, done);
  const auto stores = open_stores(x);
  check_stores(stores);
  check_records(stores, truth);
  x.application().read([&](const apps::event_copy& copy) {
    check_sent(stores, copy, !done.may().unacked, all_until);
  });
}

} // namespace weir::sim
