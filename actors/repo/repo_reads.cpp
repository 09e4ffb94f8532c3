#include "actors/repo/repo_reads.hpp"

#include "storage/tables/collection_table.hpp"
#include "storage/tables/repo_table.hpp"

#include <caf/send.hpp>

#include <utility>

namespace weir::actors {

reader_job load_rows(const atproto::did& repo, repo_actor to) {
  reader_job job;
  job.run = [to = std::move(to), repo](store_readers& store) {
    const storage::repo_table table{store.db, store.names};
    caf::anon_send(to, repo_loaded{table.load(repo)});
  };
  return job;
}

reader_job load_buffer_page(const atproto::did& repo, uint64_t after,
                            repo_actor to) {
  reader_job job;
  job.run = [to = std::move(to), repo, after](store_readers& store) {
    caf::anon_send(to, store.read_buffer(repo, after));
  };
  return job;
}

} // namespace weir::actors
