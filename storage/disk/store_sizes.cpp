#include "storage/disk/store_sizes.hpp"

namespace weir::storage {

namespace {

struct family_range {
  table_family of;
  table first;
  table last;
};

using enum table_family;

/// All numbers that a table can have, in order.
constexpr std::array ranges{
  family_range{other, table{0x00}, table{0x0f}},
  family_range{log, table::log_block, table::log_block},
  family_range{content, table::content_block, table::content_block},
  family_range{log, table::stream_block, table::chain},
  family_range{records, table::record_head, table::collection_member},
  family_range{content, table::content_reference, table::content_reference},
  family_range{log, table::time_index, table{0x18}},
  family_range{content, table{0x19}, table{0x2f}},
  family_range{repos, table{0x30}, table{0x3f}},
  family_range{other, table{0x40}, table{0x4f}},
  family_range{consumers, table{0x50}, table{0x5f}},
  family_range{other, table{0x60}, table{0xfe}}};

key_range keys_of(const family_range& x) {
  const auto first = static_cast<char>(x.first);
  const auto behind = static_cast<char>(static_cast<uint8_t>(x.last) + 1);
  return {std::string(1, first), std::string(1, behind)};
}

} // namespace

family_sizes store_sizes(const database& db) {
  family_sizes out{};
  for (const auto& x : ranges)
    out[static_cast<size_t>(x.of)] += db.approximate_bytes(keys_of(x));
  const auto tables = total_bytes(out);
  const auto files = db.file_bytes();
  out[static_cast<size_t>(unsorted)] = files > tables ? files - tables : 0;
  return out;
}

} // namespace weir::storage
