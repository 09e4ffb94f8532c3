#include "actors/support/placement.hpp"
#include "apps/weir/commands.hpp"
#include "apps/weir/stop_signal.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/format/limits.hpp"
#include "storage/log/leveldb_store.hpp"
#include "storage/log/operation_copy.hpp"
#include "storage/segments/export_mark.hpp"
#include "storage/segments/segment_store.hpp"

#include <CLI/CLI.hpp>

#include <iostream>

namespace weir::apps {

namespace {

struct import_flags {
  std::string from;
  std::string to;
  uint16_t partitions = 0;
};

/// The segments of an export that has ended.
result<std::unique_ptr<storage::segment_store>>
open_export(const std::string& directory) {
  storage::segment_options how;
  how.directory = directory;
  how.access = storage::access_mode::read_only;
  auto out = storage::segment_store::open(how, system_clock());
  if (!out)
    return out.error();
  if (auto ok = storage::check_complete(storage::posix_disk(), directory,
                                        (*out)->last_id());
      !ok)
    return ok.error();
  return out;
}

/// Each repo goes to the partition in which a node looks for it.
result<storage::copy_counts> import_log(const import_flags& flags,
                                        stop_signal& stop) {
  const auto from = open_export(flags.from);
  if (!from)
    return from.error();
  storage::database_options where;
  where.directory = flags.to;
  const auto databases
    = storage::open_partition_stores(where, flags.partitions);
  if (!databases)
    return databases.error();
  std::vector<std::unique_ptr<storage::leveldb_store>> stores;
  for (const auto& db : *databases) {
    auto store = storage::leveldb_store::open(*db, system_clock());
    if (!store)
      return store.error();
    stores.push_back(std::move(*store));
  }
  const actors::placement places{static_cast<uint16_t>(stores.size()), 1};
  storage::copy_options how;
  how.cancelled = [&stop] {
    return stop.requested();
  };
  how.target = [&](const atproto::did& repo)
    -> result<storage::operation_store*> {
    return stores[places.partition_of(repo)].get();
  };
  const auto copied = storage::copy_operations(**from, how);
  for (const auto& store : stores)
    if (auto ok = store->sync(); !ok)
      return ok.error();
  return copied;
}

int import(const import_flags& flags) {
  stop_signal stop;
  const auto done = import_log(flags, stop);
  if (!done) {
    std::cerr << "weir: cannot import: " << printable(done.error().context)
              << "\n";
    return refused;
  }
  std::cout << "transactions: " << done->transactions << "\n"
            << "operations: " << done->operations << "\n"
            << "operations there already: " << done->present << std::endl;
  return all_good;
}

} // namespace

void add_import(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "import", "Make a data directory from an export, or add what it lacks");
  auto flags = std::make_shared<import_flags>();
  command->add_option("FROM", flags->from, "Directory of the export")
    ->required();
  command
    ->add_option("DIR", flags->to,
                 "Data directory; it is made unless it is there. No node may "
                 "use it")
    ->required();
  command
    ->add_option("--partitions", flags->partitions,
                 "Partitions of a new data directory; one that is there keeps "
                 "its number")
    ->check(CLI::Range(1, static_cast<int>(limits::partitions_max)));
  command->callback([flags, &status] {
    status = import(*flags);
  });
}

} // namespace weir::apps
