#include "storage/log/log_epochs.hpp"

#include "atproto/limits.hpp"
#include "storage/format/keys.hpp"
#include "storage/log/limits.hpp"
#include "storage/log/transaction_writer.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

/// Partitions share the ids: each has its part of them.
uint64_t id_max(uint16_t partitions) {
  return static_cast<uint64_t>(limits::safe_integer_max) / partitions;
}

/// The id that belongs to a second; 0 before the first second that has one.
uint64_t number_of(wall_time now, uint16_t partitions) {
  const auto seconds = now.seconds() - limits::adopted_ids_since;
  const auto of_each = limits::adopted_ids_a_second / partitions;
  return seconds <= 0 ? 0
                      : std::min(id_max(partitions) / of_each,
                                 static_cast<uint64_t>(seconds))
                          * of_each;
}

} // namespace

result<std::vector<log_epoch>> load_log_epochs(const database& db) {
  auto row = load_row<log_epochs_row>(db, meta_key{log_epochs_row_name});
  if (!row)
    return row.error();
  return *row ? std::move((*row)->begun) : std::vector<log_epoch>{};
}

result<log_epoch> begin_log_epoch(database& db, wall_time now,
                                  random_source& random) {
  auto begun = load_log_epochs(db);
  if (!begun)
    return begun.error();
  const auto tail = read_log_tail(db, 0);
  if (!tail)
    return tail.error();
  const auto usual = tail->next + (begun->empty() ? 0 : begun->back().ahead);
  const auto partitions = db.identity().partitions;
  auto id = number_of(now, partitions);
  if (id <= usual)
    id = usual
         + (limits::adopted_ids_ahead
            + random.below(limits::adopted_ids_drawn)
                * limits::adopted_ids_a_second)
             / partitions;
  if (id > id_max(partitions) - limits::adopted_ids_ahead / partitions)
    return fail(ec::limit_reached, "there are no more ids that JSON can carry; "
                                   "is the clock of this machine right?");
  const log_epoch next{tail->next, id - tail->next};
  if (!begun->empty() && begun->back().first == next.first)
    begun->pop_back(); // No operation has this epoch.
  if (begun->size() == limits::log_epochs_max)
    return fail(ec::limit_reached,
                "this store was adopted " + std::to_string(begun->size())
                  + " times, which is as often as it can be");
  begun->push_back(next);
  write_batch batch;
  batch.put(encode_key(meta_key{log_epochs_row_name}),
            encode_value(log_epochs_row{std::move(*begun)}));
  // It is written twice. A damaged last record of LevelDB's log looks like one
  // that a power failure cut off, and is dropped at the next start; then this
  // one would be lost.
  for (int i = 0; i < 2; ++i)
    if (auto ok = db.write(batch, sync_mode::durable); !ok)
      return ok.error();
  return next;
}

} // namespace weir::storage
