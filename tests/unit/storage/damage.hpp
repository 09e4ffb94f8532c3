#pragma once

#include <optional>
#include <string>

namespace weir::storage {

using bytes_of_row = std::optional<std::string>;

/// A change of one row of a store.
struct damage {
  const char* kind;
  std::string key; ///< The key of the row, before and after.
  bytes_of_row before;
  bytes_of_row after;
};

} // namespace weir::storage
