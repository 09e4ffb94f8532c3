#include "storage/log/log_blocks.hpp"

#include "storage/format/keys.hpp"
#include "storage/tables/row_access.hpp"

#include <algorithm>

namespace weir::storage {

namespace {

result<op_id> number_in(const database& db, const char* row_name) {
  const auto row = load_row<counter>(db, meta_key{row_name});
  if (!row)
    return row.error();
  return *row ? (*row)->value : op_id{1};
}

} // namespace

result<op_id> log_whole_from(const database& db) {
  return number_in(db, log_whole_from_row);
}

result<op_id> replaced_through(const database& db) {
  return number_in(db, replaced_through_row);
}

result<void> check_trimmed(const database& db, op_id first, op_id end) {
  const auto whole_from = log_whole_from(db);
  if (!whole_from)
    return whole_from.error();
  if (end <= *whole_from)
    return {};
  return fail(ec::storage_failure,
              "the log has no operation "
                + std::to_string(std::max(first, *whole_from)));
}

result<op_id> block_of(const database& db, uint16_t partition, op_id id) {
  // Readers mostly ask from the beginning of a block.
  auto range = range_of<log_block_key>(partition);
  auto value = db.get(encode_key(log_block_key{partition, id}));
  if (!value)
    return value.error();
  if (*value)
    return id;
  range.end = encode_key(log_block_key{partition, id + 1});
  const auto row = db.last_in(range);
  if (!row)
    return row.error();
  if (!*row)
    return op_id{0};
  const auto key = decode_key<log_block_key>((*row)->first);
  if (!key)
    return key.error();
  const auto block = decode_log_block((*row)->second);
  if (!block)
    return block.error();
  return id - key->first < block->ops.size() ? key->first : op_id{0};
}

result<std::optional<log_block>> load_block(const database& db,
                                            uint16_t partition, op_id first) {
  const auto value = db.get(encode_key(log_block_key{partition, first}));
  if (!value)
    return value.error();
  if (!*value)
    return std::optional<log_block>{};
  auto block = decode_log_block(**value);
  if (!block)
    return block.error();
  return std::optional{std::move(*block)};
}

result<void> each_block(const database& db, uint16_t partition, op_id after,
                        op_id durable, const block_visitor& visit) {
  if (after >= durable)
    return {};
  const auto begin = block_of(db, partition, after + 1);
  if (!begin)
    return begin.error();
  auto next = *begin == 0 ? after + 1 : *begin;
  auto range = range_of<log_block_key>(partition);
  range.begin = encode_key(log_block_key{partition, next});
  return each_value<log_block_key>(
    db, range,
    [&](const log_block_key& key, std::string_view value) -> result<bool> {
      const auto block = decode_log_block(value);
      if (!block)
        return block.error();
      if (key.first != next)
        if (auto ok = check_trimmed(db, next, key.first); !ok)
          return ok.error();
      next = key.first + block->ops.size();
      if (next - 1 > durable)
        return false;
      return visit(key.first, *block);
    });
}

} // namespace weir::storage
