#pragma once

#include <leveldb/slice.h>

#include <string_view>

namespace weir::storage {

/// The same bytes as LevelDB's type. Borrows them.
inline leveldb::Slice slice(std::string_view x) noexcept {
  return {x.data(), x.size()};
}

} // namespace weir::storage
