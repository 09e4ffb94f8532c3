#include "storage/tables/consumer_table.hpp"

#include "storage/tables/row_access.hpp"

namespace weir::storage {

result<std::optional<consumer_state>> load_consumer(const database& db,
                                                    const consumer_name& which,
                                                    uint16_t partition) {
  auto row
    = load_row<consumer_row>(db, consumer_key{which.dataset, which.name});
  if (!row)
    return row.error();
  if (!*row)
    return std::optional<consumer_state>{};
  consumer_state out{std::move(**row), {}};
  auto ok = each_row<counter, acked_key>(
    db, range_of<acked_key>(which.dataset, which.name, partition),
    [&](const acked_key& key, const counter& last) -> result<bool> {
      if (out.acked.size() == limits::consumer_ranges_max)
        return fail(ec::limit_reached,
                    "consumer " + which.name + " has too many acked ranges");
      out.acked.push_back({key.first, last.value});
      return true;
    });
  if (!ok)
    return ok.error();
  return std::optional{std::move(out)};
}

result<std::vector<std::pair<op_id, dead_letter_row>>>
load_dead_letters(const database& db, const consumer_name& which,
                  uint16_t partition, op_id after, size_t limit) {
  const auto range
    = after_key(range_of<dead_letter_key>(which.dataset, which.name, partition),
                dead_letter_key{which.dataset, which.name, partition, after});
  return first_rows<dead_letter_row, dead_letter_key>(
    db.scan(range), limit,
    [](const dead_letter_key& key, dead_letter_row& row) {
      return std::pair{key.id, std::move(row)};
    });
}

} // namespace weir::storage
