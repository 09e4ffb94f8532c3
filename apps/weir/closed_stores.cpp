#include "apps/weir/closed_stores.hpp"

#include "storage/disk/partition_stores.hpp"

namespace weir::apps {

result<closed_stores> closed_stores::open(const std::string& data_dir,
                                          storage::disk_env* disk) {
  storage::database_options where;
  where.directory = data_dir;
  where.access = storage::access_mode::read_only;
  where.disk = disk;
  auto databases = storage::open_partition_stores(where, 0);
  if (!databases)
    return databases.error();
  closed_stores out;
  out.databases_ = std::move(*databases);
  std::vector<const store_readers*> readers;
  for (const auto& db : out.databases_) {
    auto names = storage::collection_table::load(*db);
    if (!names)
      return names.error();
    auto& x = *out.opened_.emplace_back(std::make_unique<opened>());
    x.names = std::move(*names);
    x.readers = std::make_unique<store_readers>(
      store_readers{*db, *x.names, x.tail});
    readers.push_back(x.readers.get());
  }
  const auto count = static_cast<uint16_t>(readers.size());
  out.repos_ = {actors::placement{count, 1}, std::move(readers)};
  return out;
}

} // namespace weir::apps
