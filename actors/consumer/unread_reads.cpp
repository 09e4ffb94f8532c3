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
    auto entries
      = storage::log_reader{store.db, store.names, store.partition}.read(
        id - 1, durable, page);
    unread_log out{id, durable, {}, !entries};
    if (entries)
      out.entries = std::move(*entries);
    caf::anon_send(to, std::move(out));
  };
  return job;
}

} // namespace weir::actors
