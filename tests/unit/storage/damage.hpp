#pragma once

#include <optional>
#include <string>

namespace weir::storage {

using bytes_of_row = std::optional<std::string>;

/// What happened to one row of a store.
struct damage {
  const char* kind;
  std::string key; ///< Of one row, before and after.
  bytes_of_row before;
  bytes_of_row after;
};

} // namespace weir::storage
