#include "storage/log/batch_record.hpp"

#include "storage/disk/write_batch.hpp"
#include "storage/format/byte_codec.hpp"
#include "storage/format/crc32c.hpp"

namespace weir::storage {

namespace {

constexpr char record_format = 1;
constexpr char row_put = 1;
constexpr char row_erased = 2;
constexpr size_t row_overhead = 8;

void put_text(byte_sink& out, std::string_view x) {
  out.put_varint(x.size());
  out.put_raw(x.data(), x.size());
}

} // namespace

std::string encode_batch(const batch_place& at, const write_batch& rows) {
  byte_sink out;
  out.data.reserve(64 + rows.bytes() + row_overhead * rows.rows());
  out.data.push_back(record_format);
  out.put_varint(at.partition);
  out.put_varint(at.last);
  out.put_raw(at.chain.data(), at.chain.size());
  out.put_varint(rows.rows());
  rows.for_each([&out](std::string_view key, const std::string_view* value) {
    out.data.push_back(value != nullptr ? row_put : row_erased);
    put_text(out, key);
    if (value != nullptr)
      put_text(out, *value);
  });
  out.put_fixed32(crc32c(out.data));
  return std::move(out.data);
}

} // namespace weir::storage
