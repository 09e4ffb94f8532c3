#include "actors/repo/repo_reads.hpp"

#include "storage/tables/collection_table.hpp"
#include "storage/tables/repo_table.hpp"

#include <caf/send.hpp>

#include <utility>

namespace weir::actors {

reader_job load_rows(const atproto::did& repo, repo_actor to) {
  reader_job job;
  job.run = [to = std::move(to), repo](store_readers& store) {
    repo_loaded out;
    if (auto rows = storage::repo_table{store.db, store.names}.load(repo)) {
      out.row = std::move(rows->row);
      out.chain = std::move(rows->chain);
      out.member = std::move(rows->member);
    } else {
      out.failed = rows.error();
    }
    caf::anon_send(to, std::move(out));
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
