#include "actors/node/spools.hpp"

#include "base/limits.hpp"
#include "storage/file_spool.hpp"

#include <algorithm>

namespace weir::actors {

spool_factory make_spool_factory(const node_config& config) {
  // All jobs together stay within their share of memory.
  const auto memory = std::min<uint64_t>(
    limits::spool_memory_bytes_max,
    limits::backfill_bytes_max / std::max<size_t>(config.sync_parallelism, 1));
  return [directory = config.data_dir, memory, most = config.repo_bytes_max] {
    auto store = std::make_unique<storage::file_spool>(directory, memory,
                                                       most);
    auto index = std::make_unique<storage::file_spool>(directory, 0, most);
    import_spools out;
    // The import owns both spools and outlives every question.
    out.on_disk = [spool = store.get()] { return spool->on_disk(); };
    out.store = std::move(store);
    out.index = std::move(index);
    return out;
  };
}

} // namespace weir::actors
