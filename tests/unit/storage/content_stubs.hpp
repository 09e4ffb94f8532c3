#pragma once

#include "storage/format/byte_archive.hpp"
#include "storage/format/content_block.hpp"
#include "storage/format/crc32c.hpp"

#include <algorithm>
#include <vector>

namespace weir::tests {

/// The value of a content block in which the bodies of some items are replaced
/// by stubs (storage-format.md 3.3), made apart from the product's writer.
inline std::string with_stubs(std::string_view value,
                              const std::vector<size_t>& erase) {
  const auto block = storage::content_block_reader::open(value).value();
  storage::byte_output items;
  storage::byte_output bodies;
  items(storage::value_format);
  items.put_varint(block.count());
  for (size_t i = 0; i < block.count(); ++i) {
    const auto item = block.at(i).value();
    const bool erased
      = item.erased || std::ranges::find(erase, i) != erase.end();
    items.put_varint(uint64_t{item.size} << 1 | (erased ? 1 : 0));
    items.put_fixed32(erased ? 0 : storage::crc32c(as_text(item.body)));
    if (!erased)
      bodies.data += as_text(item.body);
  }
  return items.data + bodies.data;
}

} // namespace weir::tests
