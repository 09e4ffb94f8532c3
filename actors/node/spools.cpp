#include "actors/node/spools.hpp"

#include "actors/node/memory_plan.hpp"
#include "storage/disk/file_spool.hpp"

namespace weir::actors {

spool_factory make_spool_factory(const node_config& config) {
  const auto memory = plan_memory(config).spool;
  return [directory = config.data_dir, memory, most = config.repo_bytes_max] {
    auto store = std::make_unique<storage::file_spool>(directory, memory,
                                                       most);
    auto index = std::make_unique<storage::file_spool>(directory, 0, most);
    import_spools out;
    // The import owns both spools and outlives every call.
    out.on_disk = [spool = store.get()] { return spool->on_disk(); };
    out.store = std::move(store);
    out.index = std::move(index);
    return out;
  };
}

} // namespace weir::actors
