#include "storage/log/content_reader.hpp"

namespace weir::storage {

result<std::optional<content_row>>
find_content_row(const database& db, uint16_t partition, uint64_t number) {
  auto range = range_of<content_block_key>(partition);
  range.end = encode_key(content_block_key{partition, number + 1});
  auto row = db.last_in(range);
  if (!row)
    return row.error();
  if (!*row)
    return std::optional<content_row>{};
  const auto key = decode_key<content_block_key>((*row)->first);
  if (!key)
    return key.error();
  return std::optional{content_row{key->first, std::move((*row)->second)}};
}

result<shared_bytes> content_reader::read_one(uint64_t number) {
  auto out = read(number);
  return out ? result<shared_bytes>{std::move(out->body)} : out.error();
}

result<stored_content> content_reader::read(uint64_t number) {
  if (number == 0)
    return stored_content{};
  if (!holds(number))
    if (auto ok = load(number); !ok)
      return ok.error();
  if (!holds(number))
    return stored_content{};
  const auto item = block_.at(number - first_);
  if (!item)
    return item.error();
  return stored_content{item->erased, item->body.empty()
                                        ? shared_bytes{}
                                        : shared_bytes::copy_of(item->body)};
}

result<void> content_reader::load(uint64_t number) {
  block_ = {};
  auto row = find_content_row(db_, partition_, number);
  if (!row)
    return row.error();
  if (!*row)
    return {};
  first_ = (*row)->first;
  value_ = std::move((*row)->value);
  auto block = content_block_reader::open(value_);
  if (!block)
    return block.error();
  block_ = std::move(*block);
  return {};
}

} // namespace weir::storage
