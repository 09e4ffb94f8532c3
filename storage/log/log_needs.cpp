#include "storage/log/log_needs.hpp"

#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

result<log_needs> log_needs::load(const database& db, uint16_t partition,
                                  bool used) {
  log_needs out{db, partition, used};
  auto ok = each_row<consumer_row, consumer_key>(
    db, range_of<consumer_key>(),
    [&](consumer_key& key, const consumer_row& row) {
      out.consumers_.push_back({std::move(key), row.position(partition),
                                row.dead_letters != 0});
      return true;
    });
  if (!ok)
    return ok.error();
  return out;
}

result<bool> log_needs::needs(op_id id) const {
  if (used_ && consumers_.empty())
    return true; // It was sent events and has acked none.
  for (const auto& x : consumers_) {
    auto needed = needs(x, id);
    if (!needed || *needed)
      return needed;
  }
  return false;
}

result<bool> log_needs::needs(const consumer& x, op_id id) const {
  if (x.has_letters) {
    const auto key = encode_key(
      dead_letter_key{x.key.dataset, x.key.name, partition_, id});
    const auto letter = db_.scan({key, key_after(key)});
    if (auto ok = letter.status(); !ok)
      return ok.error();
    if (letter.valid())
      return true;
  }
  if (!used_ || id <= x.position)
    return false;
  const auto acked = has_acked(x, id);
  return acked ? result<bool>{!*acked} : acked;
}

/// Only for ids above the position.
result<bool> log_needs::has_acked(const consumer& x, op_id id) const {
  const auto at = [&](op_id first) {
    return encode_key(
      acked_key{x.key.dataset, x.key.name, partition_, first});
  };
  const auto row = db_.last_in({at(0), at(id + 1)});
  if (!row)
    return row.error();
  if (!*row)
    return false;
  const auto last = decode_value<counter>((*row)->second, table::acked);
  return last ? result<bool>{last->value >= id} : last.error();
}

result<bool> log_needs::needs_any(op_id first, const log_block& block) const {
  for (size_t i = 0; i < block.ops.size(); ++i) {
    const auto scope = block.streams[block.ops[i].stream].scope;
    if (scope == commit_scope_id)
      continue;
    const bool fact = scope < first_collection_id;
    const auto id = first + i;
    if (fact && used_
        && (consumers_.empty() || std::ranges::any_of(consumers_, [&](auto& x) {
              return id > x.position;
            })))
      return true;
    auto needed = needs(id);
    if (!needed || *needed)
      return needed;
  }
  return false;
}

} // namespace weir::storage
