#pragma once

#include <leveldb/slice.h>

#include <string_view>

namespace weir::storage {

/// The same bytes in LevelDB's type, and back; borrows them.
inline leveldb::Slice slice(std::string_view x) noexcept {
  return {x.data(), x.size()};
}

inline std::string_view view(const leveldb::Slice& x) noexcept {
  return {x.data(), x.size()};
}

} // namespace weir::storage
