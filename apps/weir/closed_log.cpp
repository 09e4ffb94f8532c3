#include "apps/weir/closed_log.hpp"

#include "actors/support/placement.hpp"
#include "storage/disk/partition_stores.hpp"
#include "storage/log/leveldb_store.hpp"
#include "storage/segments/segment_store.hpp"

namespace weir::apps {

result<closed_log> closed_log::open(const std::string& directory,
                                    const atproto::did& repo) {
  closed_log out;
  storage::segment_options files;
  files.directory = directory;
  files.access = storage::access_mode::read_only;
  auto segments = storage::segment_store::open(files, system_clock());
  if (segments) {
    out.store_ = std::move(*segments);
    return out;
  }
  if (segments.error().code != ec::not_found)
    return segments.error();
  storage::database_options where;
  where.directory = directory;
  where.access = storage::access_mode::read_only;
  auto databases = storage::open_partition_stores(where, 0);
  if (!databases)
    return databases.error();
  out.databases_ = std::move(*databases);
  const actors::placement places{
    static_cast<uint16_t>(out.databases_.size()), 1};
  auto& own = *out.databases_[places.partition_of(repo)];
  auto store = storage::leveldb_store::open(own, system_clock());
  if (!store)
    return store.error();
  out.store_ = std::move(*store);
  return out;
}

} // namespace weir::apps
