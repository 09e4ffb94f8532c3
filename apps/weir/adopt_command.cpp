#include "apps/weir/commands.hpp"
#include "base/clock.hpp"
#include "base/printable.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "storage/disk/store_identity.hpp"
#include "storage/log/log_epochs.hpp"
#include "wire/event_numbers.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <iostream>

namespace weir::apps {

namespace {

result<std::string> adopt(const std::string& directory) {
  const auto known
    = storage::read_store_identity(storage::posix_disk(), directory);
  if (!known)
    return known.error();
  if (!*known) // `open` would make a store.
    return fail(ec::not_found, "there is no store in " + directory);
  storage::database_options where;
  where.directory = directory;
  const auto stores = storage::open_partition_stores(where, 0);
  if (!stores)
    return stores.error();
  uint64_t least = UINT64_MAX;
  wire::event_numbers numbers;
  // The first store comes last, since its epoch gives the log its name.
  for (auto i = stores->rbegin(); i != stores->rend(); ++i) {
    const auto begun = storage::begin_log_epoch(**i, system_clock().wall_now(),
                                                system_random());
    if (!begun)
      return begun.error();
    const auto& which = (*i)->identity();
    numbers = wire::event_numbers{
      {{begun->first, begun->ahead}}, which.partition, which.partitions};
    least = std::min(least, numbers.epoch());
  }
  return "events from now on have ids from " + std::to_string(least)
         + " on; the log's epoch is "
         + numbers.name_of(stores->front()->log_identity());
}

} // namespace

void add_adopt(CLI::App& app, int& status) {
  auto* command = app.add_subcommand(
    "adopt", "Take over a data directory that was put back from a backup: its "
             "next events get ids that no event had before");
  auto directory = std::make_shared<std::string>();
  command->add_option("DIR", *directory, "Data directory; no node may use it")
    ->required();
  command->callback([directory, &status] {
    const auto done = adopt(*directory);
    if (done)
      std::cout << *done << std::endl;
    else
      std::cerr << "weir: cannot adopt: " << printable(done.error().context)
                << "\n";
    status = done ? all_good : refused;
  });
}

} // namespace weir::apps
