#include "apps/weir/adoption.hpp"

#include "base/clock.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/disk/safe_env_disk.hpp"
#include "storage/disk/store_identity.hpp"
#include "storage/log/log_epochs.hpp"
#include "wire/event_numbers.hpp"

#include <algorithm>

namespace weir::apps {

result<std::string> adopt_stores(const std::string& data_dir) {
  const auto known
    = storage::read_store_identity(storage::posix_disk(), data_dir);
  if (!known)
    return known.error();
  if (!*known) // `open` would make a store.
    return fail(ec::not_found, "there is no store in " + data_dir);
  storage::database_options where;
  where.directory = data_dir;
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

} // namespace weir::apps
