#pragma once

#include "base/bytes.hpp"

#include <bit>
#include <vector>

namespace weir::tests {

/// Splits frames that were written one after the other, each preceded by its
/// length in 32 bits of this byte order.
inline std::vector<shared_bytes> split_frames(bytes_view all,
                                              std::endian order) {
  constexpr size_t prefix = 4;
  std::vector<shared_bytes> out;
  while (all.size() >= prefix) {
    size_t size = 0;
    for (size_t i = 0; i < prefix; ++i)
      size = size << 8 | all[order == std::endian::big ? i : prefix - 1 - i];
    out.push_back(shared_bytes::copy_of(all.subspan(prefix, size)));
    all = all.subspan(prefix + size);
  }
  return out;
}

} // namespace weir::tests
