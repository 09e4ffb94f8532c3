#include "actors/consumer/unread_reads.hpp"

#include "actors/support/store_readers.hpp"
#include "messages/consumer.hpp"
#include "storage/log/log_reader.hpp"
#include "storage/tables/collection_table.hpp"

#include <caf/send.hpp>

#include <utility>

namespace weir::actors {

reader_job read_unread(const oldest_event& x, storage::op_id durable,
                       consumer_actor to) {
  reader_job job;
  job.run = [id = x.id, unread = x.unread, durable,
             to = std::move(to)](const store_readers& store) {
    storage::log_page page;
    // Otherwise erased events would not be recognised.
    page.with_content = unread;
    if (!unread)
      page.ops_max = 1;
    const storage::log_reader log{store.db, store.names, store.partition};
    caf::anon_send(to,
                   unread_log{id, durable, log.read(id - 1, durable, page)});
  };
  return job;
}

} // namespace weir::actors
