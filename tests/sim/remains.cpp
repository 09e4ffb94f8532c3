#include "tests/sim/remains.hpp"

#include "apps/weir/demo_proof.hpp"
#include "storage/verify.hpp"
#include "tests/sim/broken.hpp"

namespace weir::sim {

namespace {

using namespace std::chrono_literals;

/// Hostile hosts go on to the end, and what they say last need not have been sent.
constexpr auto time_to_send = 10s;

/// How repos may go from one status to another (SYNC-02 to SYNC-08), as it is
/// written: what happens while an earlier write is under way is one step. There is
/// no way to `synced` but through a fetch.
const std::set<std::string> listed_changes{
  "new to pending",     "pending to syncing", "pending to error",
  "pending to desync",  "pending to gone",    "syncing to synced",
  "syncing to error",   "syncing to desync",  "syncing to pending",
  "syncing to gone",    "synced to desync",   "synced to pending",
  "synced to gone",     "synced to syncing",  "synced to error",
  "new to error",       "desync to syncing",  "desync to error",
  "desync to pending",  "desync to gone",     "error to syncing",
  "error to desync",    "error to pending",   "error to gone"};

/// Who fell out of sync was asked to.
void check_soundness(const scene& x, const performer& done) {
  // A fetch that a restart interrupts begins anew, and so does one that its host
  // puts off, or that gave way to others because its host stood still.
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

void check_store(const storage::database& db) {
  const auto report = storage::verify_store(db);
  if (!report)
    throw broken{"store", to_string(report.error())};
  if (report->findings_total == 0)
    return;
  const auto& x = report->findings.front();
  throw broken{"store", x.invariant + " " + x.where + ": " + x.sentence};
}

void check_sent(const storage::database& db, const apps::event_copy& copy,
                bool all_were_acked, storage::op_id all_until) {
  if (all_until == 0 && !copy.ids().empty())
    throw broken{"delivery", "the node does not say how much it wrote"};
  const auto found = apps::check_delivery(db, copy, all_until);
  if (!found)
    throw broken{"store", to_string(found.error())};
  const auto lost = all_were_acked ? found->lost : 0;
  if (lost + found->altered + found->invented > 0)
    throw broken{"delivery", std::to_string(found->lost) + " events lost, "
                               + std::to_string(found->altered) + " altered, "
                               + std::to_string(found->invented) + " invented"};
}

} // namespace

std::unique_ptr<storage::database> open_store(scene& x) {
  storage::database_options options;
  options.directory = x.settings().node.data_dir;
  options.disk = &x.disk();
  options.access = storage::access_mode::read_only;
  auto db = storage::database::open(std::move(options));
  if (!db)
    throw broken{"store", to_string(db.error())};
  return std::move(*db);
}

void check_remains(scene& x, const performer& done) {
  const auto all_until = x.last_operation();
  x.steps().run_for(time_to_send);
  x.stop_node();
  check_statuses(x, done);
  const auto db = open_store(x);
  check_store(*db);
  x.application().read([&](const apps::event_copy& copy) {
    check_sent(*db, copy, !done.may().unacked, all_until);
  });
}

} // namespace weir::sim
