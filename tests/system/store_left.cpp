#include "tests/system/store_left.hpp"

#include "actors/node/store_set.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/tables/consumer_table.hpp"
#include "storage/tables/repo_table.hpp"
#include "storage/tables/row_access.hpp"
#include "storage/verify/verify.hpp"
#include "wire/position.hpp"

#include <filesystem>

namespace weir::tests {

namespace {

void read_repos(const storage::database& db, store_left& out) {
  const auto& which = db.identity();
  const auto ok = storage::each_row<storage::repo_row, storage::repo_key>(
    db, storage::range_of<storage::repo_key>(),
    [&](const storage::repo_key& key,
        const storage::repo_row& row) -> result<bool> {
      ++out.repos;
      out.synced += row.status == storage::repo_status::synced;
      if (row.erased_through > 0)
        out.erased[key.repo.str()]
          = wire::event_id({which.partition, row.erased_through},
                           which.partitions)
              .value();
      return true;
    });
  if (!ok)
    out.findings += to_string(ok.error()) + "\n";
}

void check(const std::vector<std::unique_ptr<storage::database>>& all,
           store_left& out) {
  const auto report = storage::verify_stores(all);
  if (!report) {
    out.findings += to_string(report.error()) + "\n";
    return;
  }
  for (const auto& x : report->findings)
    out.findings += x.invariant + " " + x.where + " " + x.sentence + "\n";
  const auto count = report->counts.find("operations");
  out.operations = count == report->counts.end() ? 0 : count->second;
}

} // namespace

std::unique_ptr<storage::database> store_of(const std::string& data_dir,
                                            const atproto::did& repo) {
  storage::database_options where;
  where.directory = data_dir;
  auto all = storage::open_partition_stores(where, 0).value();
  const actors::placement places{static_cast<uint16_t>(all.size()), 1};
  return std::move(all[places.partition_of(repo)]);
}

store_left store_left::read(const std::string& data_dir) {
  store_left out;
  storage::database_options where;
  where.directory = data_dir;
  where.access = storage::access_mode::read_only;
  const auto all = storage::open_partition_stores(where, 0);
  if (!all) {
    const auto unfinished = all.error().code == ec::not_found;
    if (!unfinished && std::filesystem::exists(data_dir + "/CURRENT"))
      out.findings = to_string(all.error()) + "\n";
    return out;
  }
  for (const auto& db : *all) {
    auto& acked = out.acked.emplace_back();
    const auto consumer
      = storage::load_consumer(*db, {.name = actors::channel_consumer}, 0);
    if (consumer && *consumer)
      acked = {(*consumer)->row.position(0), (*consumer)->acked};
    else if (!consumer)
      out.findings += to_string(consumer.error()) + "\n";
    read_repos(*db, out);
  }
  check(*all, out);
  return out;
}

bool store_left::is_acked(uint64_t event) const {
  const auto at
    = wire::place_of(event, static_cast<uint16_t>(acked.size())).value();
  return acked[at.partition].contains(at.op);
}

uint64_t store_left::acked_count() const {
  uint64_t out = 0;
  for (const auto& x : acked)
    out += x.count();
  return out;
}

uint64_t store_left::erased_through(const std::string& did) const {
  const auto found = erased.find(did);
  return found == erased.end() ? 0 : found->second;
}

} // namespace weir::tests
