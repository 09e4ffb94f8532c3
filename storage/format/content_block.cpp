#include "storage/format/content_block.hpp"

#include "storage/format/byte_archive.hpp"
#include "storage/format/crc32c.hpp"
#include "storage/format/limits.hpp"

#include <cassert>

namespace weir::storage {

namespace {

// An item is its size shifted left by one, with this bit set when it is erased,
// and the checksum of its bytes. All items come before all bodies.
constexpr uint64_t erased_bit = 1;
constexpr size_t item_bytes_min = 5;

} // namespace

void content_block_writer::add(bytes_view body) {
  assert(count() < limits::transaction_ops_max);
  items_.push_back({false, static_cast<uint32_t>(body.size()), body});
  body_bytes_ += body.size();
}

void content_block_writer::add_erased(uint32_t size) {
  assert(count() < limits::transaction_ops_max);
  items_.push_back({true, size, {}});
}

std::string content_block_writer::take() {
  byte_output ar;
  ar.data.reserve(16 + 8 * items_.size() + body_bytes_);
  ar(value_format);
  ar.put_varint(items_.size());
  for (const auto& item : items_) {
    ar.put_varint(uint64_t{item.size} << 1 | (item.erased ? erased_bit : 0));
    ar.put_fixed32(item.erased ? 0 : crc32c(as_text(item.body)));
  }
  for (const auto& item : items_)
    ar.data += as_text(item.body);
  items_.clear();
  body_bytes_ = 0;
  return std::move(ar.data);
}

result<content_block_reader> content_block_reader::open(std::string_view x) {
  return guarded<content_block_reader>(
    x, table::content_block, [](byte_input& ar, content_block_reader& out) {
      const auto count = ar.take_count();
      if (count == 0 || count > limits::transaction_ops_max
          || count > ar.rest.size() / item_bytes_min)
        throw bad_value{"a length is wrong"};
      size_t offset = 0;
      for (size_t i = 0; i < count; ++i) {
        const auto packed = ar.take_varint();
        slot item{static_cast<uint32_t>(packed >> 1), ar.take_fixed32(),
                  (packed & erased_bit) != 0, offset};
        if (packed >> 1 != item.size)
          throw bad_value{"a length is too large"};
        offset += item.erased ? 0 : item.size;
        out.slots_.push_back(item);
      }
      out.bodies_ = ar.take(offset);
    });
}

result<content_item> content_block_reader::at(size_t i) const {
  if (i >= slots_.size())
    return fail(ec::not_found, "a content block has no such item");
  const auto& item = slots_[i];
  if (item.erased)
    return content_item{true, item.size, {}};
  const auto body = bodies_.substr(item.offset, item.size);
  if (crc32c(body) != item.sum)
    return fail(ec::storage_failure,
                "an item of the table content_block is damaged");
  return content_item{false, item.size, as_bytes(body)};
}

} // namespace weir::storage
